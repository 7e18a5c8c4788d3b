import Foundation

/// What a caller sees of one request, down to the end of the connection.
enum Reply: Equatable {
    case answer(status: Int, headers: [String: String], body: Data)
    /// The connection ended inside an answer.
    case brokenOff(received: Data)
    /// The connection ended without a byte.
    case nothing
    /// Nothing more came within the time that the caller waits.
    case silence

    /// The same but for the time at which it was given, which moves on between two answers.
    var withoutDate: Reply {
        guard case .answer(let status, let headers, let body) = self else { return self }
        return .answer(status: status, headers: headers.filter { $0.key.lowercased() != "date" }, body: body)
    }

    var status: Int? {
        if case .answer(let status, _, _) = self { return status }
        return nil
    }
}

struct SocketFailure: Error {
    let step: String
    let code: Int32
}

/// A caller of HTTP/1.1 over a plain socket: a library would hide exactly what these tests are about.
struct RawConnection {
    let port: Int
    var timeoutMs = 5000

    func send(_ request: String) async throws -> Reply {
        // A thread of its own: blocking one that tasks or database queues share would stop the server it
        // waits for.
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try exchange(request) })
            }
        }
    }

    private func exchange(_ request: String) throws -> Reply {
        #if os(Linux)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw SocketFailure(step: "socket", code: errno) }
        defer { close(descriptor) }
        var patience = timeval(tv_sec: timeoutMs / 1000, tv_usec: .init(timeoutMs % 1000 * 1000))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        try connect(descriptor)
        let bytes = Array(request.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw SocketFailure(step: "write", code: errno)
        }
        var received = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            if let answer = Self.complete(received) { return answer }
            let count = read(descriptor, &buffer, buffer.count)
            if count > 0 {
                received.append(contentsOf: buffer[0..<count])
            } else if count < 0, errno == EAGAIN {
                return .silence
            } else {
                return received.isEmpty ? .nothing : .brokenOff(received: received)
            }
        }
    }

    private func connect(_ descriptor: Int32) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw SocketFailure(step: "connect", code: errno) }
    }

    /// The answer, once its head and as many bytes as it announces are there.
    private static func complete(_ received: Data) -> Reply? {
        guard let end = received.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).components(
            separatedBy: "\r\n")
        let status = lines.first?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard let name = parts.first, let value = parts.last else { continue }
            headers[name.lowercased()] = value.trimmingCharacters(in: .whitespaces)
        }
        let body = received[end.upperBound...]
        guard let status, let length = headers["content-length"].flatMap({ Int($0) }), body.count >= length
        else {
            return nil
        }
        return .answer(status: status, headers: headers, body: Data(body))
    }
}
