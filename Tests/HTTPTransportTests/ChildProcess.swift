import Foundation
import Glibc
import Testing

@testable import HTTPTransport

/// A program that a test runs beside itself.
///
/// Not Foundation's: waiting for that needs a run loop, which the threads of Swift's concurrency do not have.
final class ChildProcess: Sendable {
    private let identifier: pid_t
    private let outputFile: URL

    /// Starts a program found in the path, and collects its standard output in a file.
    init(_ arguments: [String]) throws {
        outputFile = FileManager.default.temporaryDirectory.appendingPathComponent("out-\(UUID().uuidString)")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, outputFile.path, O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let pointers = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var identifier: pid_t = 0
        let code = posix_spawnp(&identifier, arguments[0], &actions, nil, pointers, environ)
        try #require(code == 0, "\(arguments[0]) could not be started")
        self.identifier = identifier
    }

    /// What it has written so far; nothing before it has begun.
    var output: String {
        do {
            return try String(contentsOf: outputFile, encoding: .utf8)
        } catch {
            return ""
        }
    }

    /// Waits for it to end by itself, and returns its exit status.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) == -1 && errno == EINTR {}
        return status
    }

    /// Ends it.
    func kill() {
        _ = Glibc.kill(identifier, SIGKILL)
        _ = wait()
    }

    deinit { unlink(outputFile.path) }
}
