internal import Foundation

/// A port that accepts connections and never says anything.
final class Silence {
    private let descriptor: Int32
    let port: UInt16

    init?() {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = descriptor
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, length) == 0 && listen(socket, 100) == 0
                    && getsockname(socket, address, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isListening else { return nil }
    }

    deinit { close(descriptor) }
}
