package import Hummingbird

/// Reads a request's body: at most so many bytes, at most so long.
package struct BodyReading: Sendable {
    private enum Outcome: Sendable {
        case complete([UInt8])
        case tooLarge
        case late
        case broken
    }

    private let maximumBytes: Int
    private let deadline: Duration

    /// Reads at most so many bytes, for at most so long from the end of the headers.
    package init(maximumBytes: Int, deadline: Duration) {
        self.maximumBytes = maximumBytes
        self.deadline = deadline
    }

    /// Whether the request announces a body.
    package static func isAnnounced(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || (request.headers[.contentLength] ?? "0") != "0"
    }

    /// The body's bytes; none where no body is announced.
    package func read(_ request: Request) async throws(Problem) -> [UInt8] {
        guard BodyReading.isAnnounced(request) else { return [] }
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > maximumBytes { throw .bodyTooLarge(limit: maximumBytes) }
        switch await race(request) {
        case .complete(let bytes): return bytes
        case .tooLarge: throw .bodyTooLarge(limit: maximumBytes)
        case .late: throw .incompleteBody("The body did not arrive in time.")
        case .broken: throw .incompleteBody("The body broke off.")
        }
    }

    private func race(_ request: Request) async -> Outcome {
        await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await collect(request.body) }
            group.addTask {
                do {
                    try await Task.sleep(for: deadline)
                    return .late
                } catch {
                    return .broken  // Cancelled: the body was first, or the listener ends.
                }
            }
            let first = await group.next() ?? .broken
            group.cancelAll()
            return first
        }
    }

    private func collect(_ body: RequestBody) async -> Outcome {
        var bytes: [UInt8] = []
        do {
            for try await part in body {
                guard bytes.count + part.readableBytes <= maximumBytes else { return .tooLarge }
                bytes.append(contentsOf: part.readableBytesView)
            }
            return .complete(bytes)
        } catch {
            return .broken
        }
    }
}
