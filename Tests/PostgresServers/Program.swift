import Foundation
import Glibc

/// Programs that are run to their end.
///
/// Not Foundation's processes: a server lives longer than the program that starts it, and must not keep open what other
/// tests wait to see closed. What is spawned here inherits nothing but its three standard streams.
enum Program {
    /// Runs a program, found in the path unless its name is absolute, with nothing to read.
    ///
    /// - Parameters:
    ///   - directory: where it runs. PostgreSQL's programs want to return to it, so their user must be allowed to.
    ///   - limit: after it, the program is killed.
    /// - Returns: its standard output.
    /// - Throws: ``PostgresServerError/failed(program:words:)`` with its standard error if it cannot be started or does
    ///   not end with 0, ``PostgresServerError/timedOut(_:)``, or `CancellationError`.
    static func run(
        _ arguments: [String], in directory: String, within limit: Duration = .seconds(60)
    ) async throws -> String {
        let name = arguments.joined(separator: " ")
        let output = try Capture()
        let errors = try Capture()
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(input) }
        let process = try spawn(
            arguments, in: directory, streams: [input, output.descriptor, errors.descriptor])
        var status: Int32 = 0
        do {
            try await Polling.until("\(name) ends", within: limit) {
                let ended = waitpid(process, &status, WNOHANG)
                guard ended != -1 || errno == EINTR else { throw systemFailure(name) }
                return ended == process
            }
        } catch {
            // It leads a group of its own, so this ends its children as well.
            kill(-process, SIGKILL)
            while waitpid(process, &status, 0) == -1 && errno == EINTR {}
            throw error
        }
        guard status == 0 else {
            throw PostgresServerError.failed(program: name, words: errors.text + output.text)
        }
        return output.text
    }

    /// Starts a program as the leader of a process group of its own, which the terminal's signals do not reach.
    ///
    /// - Parameter streams: the descriptors of standard input, output and error.
    /// - Throws: ``PostgresServerError/failed(program:words:)`` if not even a shell can be started. A program that does
    ///   not exist ends with an error instead.
    static func spawn(_ arguments: [String], in directory: String, streams: [Int32]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, source) in streams.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, source, Int32(target))
        }
        // It does not matter if one of them is not open.
        for descriptor in try Int32(streams.count)..<endOfDescriptors() {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The threads of Swift's concurrency block and ignore signals that a program wants to hear.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        posix_spawnattr_setflags(&attributes, Int16(flags))
        // The shell is there to change the directory, which spawning has no portable way to do.
        let words = ["sh", "-c", "cd \"$0\" && exec \"$@\"", directory] + arguments
        let argumentPointers = words.map { strdup($0) } + [nil]
        let environmentPointers = environment.map { strdup($0) } + [nil]
        defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, &attributes, argumentPointers, environmentPointers)
        guard code == 0 else {
            throw PostgresServerError.failed(program: words[0], words: String(cString: strerror(code)))
        }
        return process
    }

    /// A number above all descriptors of this process. New ones get the lowest number that is free, so a margin covers
    /// those that other threads open meanwhile.
    private static func endOfDescriptors() throws -> Int32 {
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { Int32($0) }
        return (open.max() ?? 0) + 256
    }

    /// What the last call to the system said.
    static func systemFailure(_ what: String) -> PostgresServerError {
        .failed(program: what, words: String(cString: strerror(errno)))
    }

    /// Without what would lead libpq elsewhere, and with messages in one language.
    private static let environment: [String] =
        ProcessInfo.processInfo.environment
        .filter { !$0.key.hasPrefix("PG") && $0.key != "LC_ALL" }
        .map { "\($0.key)=\($0.value)" } + ["LC_ALL=C"]
}

/// A file without a name that takes what a program writes: unlike a pipe, it is never full.
private final class Capture {
    let descriptor: Int32

    init() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pg-output-\(UUID().uuidString)").path
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Program.systemFailure(path) }
        unlink(path)
    }

    deinit { close(descriptor) }

    var text: String {
        var information = stat()
        guard fstat(descriptor, &information) == 0 else { return "" }
        var bytes = [UInt8](repeating: 0, count: Int(information.st_size))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }
}
