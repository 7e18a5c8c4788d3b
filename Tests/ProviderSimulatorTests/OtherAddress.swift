import Foundation

/// An address of this machine at which it is a stranger to itself.
enum OtherAddress {
    /// One that is not the loopback's; nil where there is none.
    static let own: String? = {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard let address = entry.ifa_addr, Int32(address.pointee.sa_family) == AF_INET else { continue }
            var text = [CChar](repeating: 0, count: 64)
            let size = socklen_t(MemoryLayout<sockaddr_in>.size)
            guard getnameinfo(address, size, &text, 64, nil, 0, NI_NUMERICHOST) == 0 else { continue }
            let name = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if !name.hasPrefix("127.") { return name }
        }
        return nil
    }()

    /// What a request through the address is answered; nil without an answer.
    static func status(_ address: String, _ port: Int, _ path: String) async throws -> Int? {
        try await Task.detached {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            defer { close(descriptor) }
            var target = sockaddr_in()
            target.sin_family = sa_family_t(AF_INET)
            target.sin_port = UInt16(port).bigEndian
            target.sin_addr.s_addr = inet_addr(address)
            let connected = withUnsafePointer(to: &target) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            guard connected == 0 else { throw SocketFailure(step: "connect", code: errno) }
            var patience = timeval(tv_sec: 5, tv_usec: 0)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
            let request = "GET \(path) HTTP/1.1\r\nHost: h\r\n\r\n"
            guard send(descriptor, request, request.utf8.count, 0) == request.utf8.count else { return nil }
            var bytes = [UInt8](repeating: 0, count: 1_024)
            let count = recv(descriptor, &bytes, bytes.count, 0)
            let words = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: " ")
            return words.dropFirst().first.flatMap { Int($0) }
        }.value
    }
}
