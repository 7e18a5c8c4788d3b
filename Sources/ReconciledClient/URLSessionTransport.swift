internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends by Foundation's `URLSession`.
public final class URLSessionTransport: ClientTransport {
    private let session: URLSession
    private let exchanges = Exchanges()

    /// A session without cookies and without a cache.
    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.urlCache = nil
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: nil)
    }

    // The session keeps its delegate until then.
    deinit { session.finishTasksAndInvalidate() }

    /// Sends one request. Throws a `URLError` if no answer came.
    public func send(_ request: ClientRequest) async throws -> ClientAnswer {
        var sent = URLRequest(url: request.url)
        sent.httpMethod = request.method
        sent.httpBody = request.body
        for (name, value) in request.headers { sent.setValue(value, forHTTPHeaderField: name) }
        let (prepared, limit) = (sent, request.timeLimit)
        return try await withThrowingTaskGroup(of: ClientAnswer.self) { group in
            group.addTask { try await self.exchange(prepared) }
            group.addTask {
                try await Task.sleep(for: limit)
                throw URLError(.timedOut)
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw URLError(.unknown) }
            return first
        }
    }

    private func exchange(_ request: URLRequest) async throws -> ClientAnswer {
        let task = session.dataTask(with: request)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { exchanges.begin(task, $0) }
        } onCancel: {
            task.cancel()
        }
    }
}

/// The requests under way, and what has come of each.
private final class Exchanges: NSObject, URLSessionDataDelegate {
    /// More than any document of the daemon has, in bytes.
    private static let mostBytes = 4 << 20

    private struct Exchange {
        let waiter: CheckedContinuation<ClientAnswer, any Error>
        var body = Data()
    }

    private let open = Mutex<[Int: Exchange]>([:])

    func begin(_ task: URLSessionDataTask, _ waiter: CheckedContinuation<ClientAnswer, any Error>) {
        open.withLock { $0[task.taskIdentifier] = Exchange(waiter: waiter) }
        task.resume()
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let tooLong = open.withLock { open -> Exchange? in
            open[dataTask.taskIdentifier]?.body.append(data)
            guard let exchange = open[dataTask.taskIdentifier], exchange.body.count > Exchanges.mostBytes else {
                return nil
            }
            return open.removeValue(forKey: dataTask.taskIdentifier)
        }
        guard let tooLong else { return }
        // More may arrive before it is canceled, and is dropped.
        dataTask.cancel()
        tooLong.waiter.resume(throwing: URLError(.dataLengthExceedsMaximum))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = open.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        if let error { return exchange.waiter.resume(throwing: error) }
        guard let response = task.response as? HTTPURLResponse else {
            return exchange.waiter.resume(throwing: URLError(.badServerResponse))
        }
        var headers: [String: String] = [:]
        for case (let name as String, let value as String) in response.allHeaderFields { headers[name] = value }
        exchange.waiter.resume(
            returning: ClientAnswer(status: response.statusCode, headers: headers, body: exchange.body))
    }
}
