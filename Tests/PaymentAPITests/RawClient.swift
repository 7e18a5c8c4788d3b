import Foundation
import Glibc

/// An HTTP client over a bare socket, so that a test decides about every byte. Blocking calls run on a thread
/// of their own, never on the threads that the server needs.
struct RawClient: Sendable {
    let port: Int

    /// What went wrong on the test's side of the connection.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Sends bytes and reads until the server ends the connection.
    func exchange(_ bytes: [UInt8], endsWriting: Bool = false) async throws -> [UInt8] {
        let port = port
        return try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(
                    with: Result { try RawClient.exchangeBlocking(port, bytes, endsWriting: endsWriting) })
            }
        }
    }

    private static func exchangeBlocking(_ port: Int, _ bytes: [UInt8], endsWriting: Bool) throws -> [UInt8] {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket: \(errno)") }
        defer { close(descriptor) }
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        let size = socklen_t(MemoryLayout<timeval>.size)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard connected == 0 else { throw Failure(description: "not connected: \(errno)") }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            // A server that has heard enough may end the connection while more is being sent.
            guard count > 0 else { break }
            sent += count
        }
        if endsWriting { shutdown(descriptor, Int32(SHUT_WR)) }
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return received }
            guard count > 0 else {
                guard received.isEmpty else { return received }
                throw Failure(description: "nothing received: \(errno)")
            }
            received += buffer[..<count]
        }
    }
}

/// An answer, taken apart.
struct RawAnswer: Sendable {
    let status: Int
    /// By lowercase name.
    let headers: [String: String]
    let body: [UInt8]

    init(_ bytes: [UInt8]) throws {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            throw RawClient.Failure(description: "no answer: \(String(decoding: bytes, as: UTF8.self))")
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
        let words = (lines.first ?? "").split(separator: " ")
        status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard let name = parts.first, parts.count == 2 else { continue }
            headers[name.lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        self.headers = headers
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        body = Array(bytes[end.upperBound...].prefix(length))
    }

    var text: String { String(decoding: body, as: UTF8.self) }

    /// The body as an object.
    var json: [String: Any] {
        get throws {
            let object = try JSONSerialization.jsonObject(with: Data(body))
            guard let members = object as? [String: Any] else {
                throw RawClient.Failure(description: "no object: \(text)")
            }
            return members
        }
    }

    func string(_ name: String) throws -> String? { try json[name] as? String }
}
