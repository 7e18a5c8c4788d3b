import Foundation
import Glibc
import Synchronization

/// A directory of servers that ends with its owner, and at the latest with this process, however that ends.
///
/// A shell reads from a connection on which nothing is ever sent. The system closes its other end with this process,
/// even if it is killed; the shell then stops every server below the directory and removes all of it. There is no other
/// way in which the servers of a test are ended, so each use proves the one that counts.
final class Watchdog: Sendable {
    /// The directory, which belongs to the servers' user.
    let directory: String
    private let shell: pid_t
    private let ourEnd: Mutex<Int32?>

    /// Makes an empty directory for servers.
    ///
    /// - Throws: ``PostgresServerError/failed(program:words:)``.
    init(_ installation: PostgresInstallation) throws {
        // Short, because the path of a Unix socket has room for some hundred characters.
        let name = "pg-" + UUID().uuidString.prefix(13)
        // Processes are known by this path in their arguments, so it has to be the one that they see.
        directory = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: name).path
        var ends: [Int32] = [-1, -1]
        // Closed in every other program that this process starts: one that kept it would keep the servers. A pipe could
        // be marked so only after it is made, which is too late for a program that is started at the same moment.
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw Program.systemFailure("a pair of sockets") }
        let sink = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer {
            close(ends[0])
            close(sink)
        }
        let stop = installation.command("pg_ctl", ["stop", "-m", "immediate", "-t", "20", "-D"])
        do {
            // The shell comes first: there is no moment at which nobody would remove the directory.
            shell = try Program.spawn(
                ["sh", "-c", Watchdog.script, "watchdog", directory] + stop, in: "/",
                streams: [ends[0], sink, sink])
        } catch {
            close(ends[1])
            throw error
        }
        ourEnd = Mutex(ends[1])
        guard mkdir(directory, 0o700) == 0 else { throw Program.systemFailure("mkdir \(directory)") }
        try installation.give(directory)
    }

    deinit { release() }

    /// Ends the servers and waits until they and the directory are gone. A second call changes nothing.
    ///
    /// - Throws: ``PostgresServerError/timedOut(_:)``, or `CancellationError`; they are ended nevertheless.
    func end() async throws {
        guard release() else { return }
        var status: Int32 = 0
        try await Polling.until("the servers in \(directory) are gone", within: .seconds(60)) {
            waitpid(shell, &status, WNOHANG) != 0
        }
    }

    /// Closes our end, and returns whether it was open.
    @discardableResult
    private func release() -> Bool {
        ourEnd.withLock { end in
            guard let descriptor = end else { return false }
            close(descriptor)
            end = nil
            return true
        }
    }

    /// The arguments are the directory, and the command that stops the server of the data directory after it.
    ///
    /// A stopped process hears no request to end, so all are continued first. A data directory whose server was killed
    /// keeps a segment of shared memory, which the system would keep for ever. What was under way when the owner died
    /// has a path below the directory among its arguments, or in its environment, as what `initdb` starts; a new
    /// process comes only from one that is found, so none is left when a search finds none. The search reads the path
    /// from its input, or it would find itself.
    private static let script = """
        directory=$1
        shift
        cat >/dev/null
        for data in "$directory"/*; do
            [ -f "$data/postmaster.pid" ] || continue
            read -r pid <"$data/postmaster.pid"
            grep -aqF -- "$data" "/proc/$pid/cmdline" || continue
            kill -CONT $(grep -lx "PPid:[[:space:]]*$pid" /proc/[0-9]*/status | cut -d / -f 3) "$pid"
            "$@" "$data"
        done
        under_way() {
            {
                printf '%s/' "$directory" | grep -alF -f - /proc/[0-9]*/cmdline
                printf 'PGDATA=%s/' "$directory" | grep -alF -f - /proc/[0-9]*/environ
            } | cut -d / -f 3
        }
        while left=$(under_way) && [ -n "$left" ]; do kill -KILL $left; done
        for data in "$directory"/*; do
            [ -f "$data/postmaster.pid" ] || continue
            set -- $(sed -n 7p "$data/postmaster.pid")
            [ -z "$2" ] || ipcrm -m "$2"
        done
        rm -rf "$directory"
        """
}
