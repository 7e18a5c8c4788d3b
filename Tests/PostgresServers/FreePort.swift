import Glibc
import Synchronization

/// Ports of 127.0.0.1 for servers that are stopped and started again in the same place.
public enum FreePort {
    /// Below what systems hand out by themselves, so that no connection takes the port while its server is down.
    private static let range = 20_000..<30_000
    private static let taken = Mutex<Set<Int>>([])

    /// A port that nobody listens on and that this process has not handed out before.
    ///
    /// Another process may still take it first; whoever listens has to be ready for that.
    ///
    /// - Throws: ``PostgresServerError/timedOut(_:)`` after 1,000 ports that are in use.
    public static func next() throws -> Int {
        for _ in 0..<1000 {
            let port = Int.random(in: range)
            guard taken.withLock({ $0.insert(port).inserted }) else { continue }
            if isFree(port) { return port }
        }
        throw PostgresServerError.timedOut("a port among \(range) is free")
    }

    private static func isFree(_ port: Int) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) == 0 }
        }
    }
}
