internal import Hummingbird

/// Reads the body of an operator's request: JSON, at most so many bytes, at most so long.
struct AdminBody {
    private enum Outcome: Sendable {
        case complete([UInt8])
        case tooLarge
        case late
        case broken
    }

    let maximumBytes: Int
    let deadline: Duration

    /// Whether the request announces a body.
    static func isAnnounced(_ request: Request) -> Bool {
        request.headers[.transferEncoding] != nil || (request.headers[.contentLength] ?? "0") != "0"
    }

    /// The body's bytes.
    func read(_ request: Request) async throws(AdminProblem) -> [UInt8] {
        guard isJSON(request) else { throw .unsupportedMediaType }
        if let length = request.headers[.contentLength].flatMap({ Int($0) }), length > maximumBytes {
            throw .bodyTooLarge(limit: maximumBytes)
        }
        switch await race(request.body) {
        case .complete(let bytes): return bytes
        case .tooLarge: throw .bodyTooLarge(limit: maximumBytes)
        case .late: throw .incomplete("The body did not arrive in time.")
        case .broken: throw .incomplete("The body broke off.")
        }
    }

    private func race(_ body: RequestBody) async -> Outcome {
        let (deadline, maximumBytes) = (deadline, maximumBytes)
        return await withTaskGroup(of: Outcome.self) { group in
            group.addTask { await AdminBody.collect(body, atMost: maximumBytes) }
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

    private static func collect(_ body: RequestBody, atMost maximumBytes: Int) async -> Outcome {
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

    private func isJSON(_ request: Request) -> Bool {
        let values = request.headers.filter { $0.name == .contentType }.map(\.value)
        guard values.count == 1, let value = values.first else { return false }
        let parts = value.lowercased().split(separator: ";").map { part in
            String(part.filter { $0 != " " && $0 != "\t" && $0 != "\"" })
        }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { !$0.hasPrefix("charset=") || $0 == "charset=utf-8" }
    }
}
