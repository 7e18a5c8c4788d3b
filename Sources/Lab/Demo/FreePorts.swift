import Foundation
import ProgramEdge

#if canImport(Glibc)
    import Glibc
#endif

/// Ports of the loopback that nobody listens on.
enum FreePorts {
    /// Takes the ports that are wished for where they are free, and others where not; 0 wishes for any. They
    /// are free when this returns, and a daemon that is started again finds its own once more, because
    /// listeners reuse an address that is not listened on.
    static func take(_ wishes: [UInt16]) throws -> [Int] {
        var sockets: [Int32] = []
        defer { for socket in sockets { _ = close(socket) } }
        var ports: [Int] = []
        for wish in wishes {
            #if canImport(Glibc)
                let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            #else
                let descriptor = socket(AF_INET, SOCK_STREAM, 0)
            #endif
            guard descriptor >= 0 else { throw CommandFailure(.unavailable, "no socket can be had") }
            sockets.append(descriptor)
            if let port = port(binding: descriptor, to: wish) ?? port(binding: descriptor, to: 0) {
                ports.append(port)
            } else {
                throw CommandFailure(.unavailable, "no free port can be had")
            }
        }
        return ports
    }

    private static func port(binding descriptor: Int32, to wish: UInt16) -> Int? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = wish.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                bind(descriptor, general, length) == 0 && getsockname(descriptor, general, &length) == 0
            }
        }
        return isBound ? Int(UInt16(bigEndian: address.sin_port)) : nil
    }
}
