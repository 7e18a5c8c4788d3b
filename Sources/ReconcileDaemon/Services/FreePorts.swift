import Foundation
import ProgramEdge

/// Finds out whether listeners can have their ports, before anything else is touched.
enum FreePorts {
    /// Requires that a listener's port is free.
    /// - Parameter key: Its name in the configuration.
    /// - Throws: ``CommandFailure`` with the code `unavailable` if another program has it, or if the address is none of
    ///   this machine.
    static func require(_ listener: Configuration.Listener, _ key: String) throws {
        guard listener.port != 0 else { return }
        var hints = addrinfo()
        hints.ai_socktype = streams
        hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(listener.host, "\(listener.port)", &hints, &found) == 0, let address = found else {
            throw CommandFailure(.unavailable, "\(key): the host '\(listener.host)' is not known here")
        }
        defer { freeaddrinfo(found) }
        let descriptor = socket(address.pointee.ai_family, streams, 0)
        guard descriptor >= 0 else { return }  // Whoever listens says what is wrong.
        defer { close(descriptor) }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) != 0 else { return }
        let reason = errno
        throw CommandFailure(
            .unavailable,
            "\(key): port \(listener.port) of \(listener.host) cannot be had: \(String(cString: strerror(reason)))")
    }

    #if canImport(Glibc)
        private static let streams = Int32(SOCK_STREAM.rawValue)
    #else
        private static let streams = SOCK_STREAM
    #endif
}
