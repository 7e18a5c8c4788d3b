internal import Hummingbird

/// Reads a request's body: at most so many bytes, at most so long.
struct BodyReading {
    private enum Outcome: Sendable {
        case complete([UInt8])
        case tooLarge
        case late
        case broken
    }

    let limits: APILimits

    /// Whether the request announces a body.
    static func isAnnounced(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || (request.headers[.contentLength] ?? "0") != "0"
    }

    /// The body's bytes.
    func read(_ request: Request) async throws(Problem) -> [UInt8] {
        guard BodyReading.isAnnounced(request) else { return [] }
        let length = request.headers[.contentLength].flatMap { Int($0) }
        if let length, length > limits.maximumBodyBytes {
            throw .bodyTooLarge(limit: limits.maximumBodyBytes)
        }
        switch await race(request) {
        case .complete(let bytes): return bytes
        case .tooLarge: throw .bodyTooLarge(limit: limits.maximumBodyBytes)
        case .late: throw incomplete("The body did not arrive in time.")
        case .broken: throw incomplete("The body broke off.")
        }
    }

    private func race(_ request: Request) async -> Outcome {
        let deadline = limits.bodyDeadline
        return await withTaskGroup(of: Outcome.self) { group in
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
                guard bytes.count + part.readableBytes <= limits.maximumBodyBytes else { return .tooLarge }
                bytes.append(contentsOf: part.readableBytesView)
            }
            return .complete(bytes)
        } catch {
            return .broken
        }
    }

    private func incomplete(_ detail: String) -> Problem {
        var problem = Problem(.invalidRequest, 400, "Invalid request", detail: detail)
        problem.isRetryable = true
        problem.closesConnection = true
        return problem
    }
}
