import Foundation
import Glibc
import Synchronization

/// Many connections to one port, whose owner means no good: they rest, or ask and never read.
///
/// Nothing here waits for the daemon: what it does not take stays where it is.
final class Crowd: Sendable {
    private let descriptors: Mutex<[Int32]>

    private init(_ descriptors: [Int32]) {
        self.descriptors = Mutex(descriptors)
    }

    /// Opens so many connections, a few at a time: more than a listener's queue holds at once would come a second
    /// later. Those that the daemon does not take within a second are left as they are.
    /// - Parameter receiveBuffer: how many bytes of answers the system keeps for each; its default if not given.
    /// - Throws: ``Socket/Failure`` where this process may not open so many.
    static func come(_ count: Int, port: Int, receiveBuffer: Int32? = nil) async throws -> Crowd {
        try Socket.allowDescriptors(count + 512)
        let opened: Result<[Int32], any Error> = await Socket.onThread {
            Result {
                var all: [Int32] = []
                while all.count < count {
                    let some = try (0..<min(64, count - all.count)).map { _ in
                        try Socket.connecting(port: port, receiveBuffer: receiveBuffer)
                    }
                    all += some
                    Socket.wait(for: some, atMost: .seconds(1))
                }
                return all
            }
        }
        return Crowd(try opened.get())
    }

    deinit { leave() }

    /// Ends all of them.
    func leave() {
        let open = descriptors.withLock { all in
            defer { all = [] }
            return all
        }
        for descriptor in open { close(descriptor) }
    }

    /// Sends `bytes` on each of them, as fast as the daemon takes them, and reads nothing.
    /// - Returns: how many bytes were taken of all of them, when the time is over or nothing is left.
    func push(_ bytes: [UInt8], for limit: Duration) async -> Int {
        let all = descriptors.withLock { $0 }
        return await Socket.onThread {
            var sent = [Int](repeating: 0, count: all.count)
            let end = ContinuousClock.now + limit
            while ContinuousClock.now < end, sent.contains(where: { $0 < bytes.count }) {
                var waiting: [pollfd] = []
                for (index, descriptor) in all.enumerated() where sent[index] < bytes.count {
                    let count = bytes[sent[index]...].withUnsafeBytes {
                        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                    }
                    if count > 0 {
                        sent[index] += count
                    } else if errno != EAGAIN {
                        sent[index] = bytes.count  // The daemon ended it.
                    }
                    waiting.append(pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0))
                }
                poll(&waiting, nfds_t(waiting.count), 100)
            }
            return sent.reduce(0, +)
        }
    }
}

/// Sockets of the loopback interface, for what an HTTP client would never do.
enum Socket {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// What came of a question on a connection of its own.
    struct Reply: Sendable {
        /// The status; `nil` where none came in time.
        let status: Int?
        /// From before the connection was made to the end of the answer, or of the patience.
        let took: Duration
    }

    /// Lets this process have so many descriptors, where its hard limit does.
    static func allowDescriptors(_ count: Int) throws {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        guard limit.rlim_cur < count else { return }
        guard limit.rlim_max >= count else {
            throw Failure(description: "\(count) descriptors are needed, \(limit.rlim_max) allowed")
        }
        limit.rlim_cur = rlim_t(count)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    /// A connection that is being made; nobody waits until it is.
    static func connecting(port: Int, receiveBuffer: Int32? = nil) throws -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_INET, kind, 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket: \(errno)") }
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 || errno == EINPROGRESS else {
            close(descriptor)
            throw Failure(description: "not connected: \(errno)")
        }
        return descriptor
    }

    /// Waits until all of these connections are made.
    static func wait(for descriptors: [Int32], atMost limit: Duration) {
        let end = ContinuousClock.now + limit
        var made: Set<Int32> = []
        while made.count < descriptors.count, ContinuousClock.now < end {
            var waiting = descriptors.filter { !made.contains($0) }
                .map { pollfd(fd: $0, events: Int16(POLLOUT), revents: 0) }
            poll(&waiting, nfds_t(waiting.count), 50)
            made.formUnion(waiting.filter { $0.revents != 0 }.map(\.fd))
        }
    }

    /// Asks once, on a connection of its own.
    static func ask(
        _ path: String, port: Int, token: String? = nil, patience: Duration = .seconds(5)
    ) async throws -> Reply {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let request = Array(
            "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(authorization)Connection: close\r\n\r\n".utf8)
        let result: Result<Reply, any Error> = await onThread {
            Result { try exchange(request, port: port, patience: patience) }
        }
        return try result.get()
    }

    private static func exchange(_ request: [UInt8], port: Int, patience: Duration) throws -> Reply {
        let begin = ContinuousClock.now
        let descriptor = try connecting(port: port)
        defer { close(descriptor) }
        var sent = false
        var received: [UInt8] = []
        var part = [UInt8](repeating: 0, count: 16_384)
        while ContinuousClock.now - begin < patience {
            var entry = pollfd(fd: descriptor, events: Int16(sent ? POLLIN : POLLOUT), revents: 0)
            guard poll(&entry, 1, 50) > 0 else { continue }
            if sent {
                let count = recv(descriptor, &part, part.count, 0)
                guard count > 0 else { break }
                received += part[..<count]
            } else {
                let count = send(descriptor, request, request.count, Int32(MSG_NOSIGNAL))
                guard count == request.count else { break }
                sent = true
            }
        }
        let words = String(decoding: received.prefix(64), as: UTF8.self).split(separator: " ")
        let status = words.first?.hasPrefix("HTTP/1.1") == true && words.count > 1 ? Int(words[1]) : nil
        return Reply(status: status, took: ContinuousClock.now - begin)
    }

    /// Runs what blocks on a thread of its own.
    static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: body()) }
        }
    }
}
