internal import PaymentCore
internal import Reconciler

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// The right of one daemon to work on a file. It is held on a file beside the database: a lock on the database itself
/// would get in the way of SQLite's own. The kernel lets go of it when the process ends, however it ends.
final class DaemonLock: Sendable {
    private let file: OwnedDescriptor

    /// Takes the lock, or says who has it.
    ///
    /// - Throws: ``StoreFailure`` with the code `busy` if another daemon holds it, `unavailable` if the file cannot be
    ///   made.
    init(of database: String) throws(StoreFailure) {
        let path = database + "-daemon"
        file = OwnedDescriptor(path.withCString { open($0, O_RDWR | O_CREAT | O_CLOEXEC, 0o600) })
        guard file.number >= 0 else { throw DaemonLock.failure(path, errno) }
        guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            guard code == EWOULDBLOCK else { throw DaemonLock.failure(path, code) }
            throw StoreFailure(
                .busy, operation: "open",
                cause: "another daemon\(DaemonLock.holder(file.number)) works on \(database): stop it, or give this "
                    + "one a file of its own; several daemons share a PostgreSQL database")
        }
        // For whoever is refused: who it is.
        let words = "\(getpid())\n"
        let written =
            ftruncate(file.number, 0) == 0 && words.withCString { pwrite(file.number, $0, strlen($0), 0) } > 0
        guard written else { throw DaemonLock.failure(path, errno) }
    }

    private static func holder(_ descriptor: Int32) -> String {
        var bytes = [UInt8](repeating: 0, count: 20)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        let digits = bytes.prefix(max(0, count)).prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return digits.isEmpty ? "" : " (process \(String(decoding: digits, as: UTF8.self)))"
    }

    private static func failure(_ path: String, _ code: Int32) -> StoreFailure {
        let words = strerror(code).map { String(cString: $0) } ?? "error \(code)"
        return StoreFailure(.unavailable, operation: "open", cause: "\(path): \(words)")
    }
}

/// A file descriptor with one owner, which closes it once. A second `close` would hit whatever file has the number by
/// then. The type makes that impossible: the `deinit` of a class also runs when its `init` throws after the last
/// property is set.
private struct OwnedDescriptor: ~Copyable {
    let number: Int32

    init(_ number: Int32) { self.number = number }

    deinit { if number >= 0 { _ = close(number) } }
}
