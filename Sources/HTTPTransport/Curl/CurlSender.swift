/// Sends requests with libcurl: connections are kept and, with HTTP/2, shared.
///
/// One thread owns libcurl; tasks talk to it through an inbox and are suspended, never blocked. Certificates
/// are always verified. Redirects are not followed, proxies of the environment are not used, nothing is sent
/// as TLS early data, no `100 Continue` is awaited, and a request is never repeated: not even when a kept
/// connection turns out to be dead, where libcurl by itself would send it again on another.
///
/// Cancelling the task ends the request; the failure tells how far it had got. Call ``shutdown(grace:)`` when
/// done.
public final class CurlSender: HTTPSender {
    private let inbox: Inbox
    private let thread: LoopThread
    private let configuration: CurlConfiguration

    /// Starts the loop's thread.
    ///
    /// Connections are made when they are needed.
    public init(configuration: CurlConfiguration) {
        let inbox = Inbox()
        self.inbox = inbox
        self.configuration = configuration
        thread = LoopThread {
            CurlLoop(inbox, configuration).run()
            inbox.ended()
        }
    }

    deinit {
        inbox.end(by: .now)
    }

    /// Sends the request once.
    ///
    /// - Throws: how far it got. ``TransportFailure/Code/invalidRequest`` before anything else if it must not
    ///   be sent; ``TransportFailure/Code/cancelled`` if the task is cancelled or the sender shut down.
    public func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        if let defect = RequestTarget.defect(of: request, allowPlainHTTP: configuration.allowPlainHTTP) {
            throw TransportFailure(code: .invalidRequest, phase: .waiting, detail: defect)
        }
        if let startBefore = request.startBefore, startBefore <= .now {
            throw TransportFailure(code: .expiredBeforeSend, phase: .waiting)
        }
        let id = inbox.reserve()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(Exchange(id: id, request: request, answer: continuation))
            }
        } onCancel: {
            inbox.cancel(id)
        }
        return try result.get()
    }

    private func submit(_ exchange: Exchange) {
        let reason: String
        switch inbox.submit(exchange) {
        case .queued: return
        case .cancelledBefore: reason = "the task was cancelled"
        case .closed: reason = "the sender was shut down"
        }
        exchange.answer.resume(
            returning: .failure(TransportFailure(code: .cancelled, phase: .waiting, detail: reason)))
    }

    /// Refuses new requests, lets those in progress finish, and returns when the thread has ended and every
    /// connection is closed.
    ///
    /// What is still in progress after `grace` fails with ``TransportFailure/Code/cancelled`` and its phase.
    public func shutdown(grace: Duration = .seconds(5)) async {
        inbox.end(by: .now + grace)
        await inbox.waitUntilEnded()
        thread.join()
    }
}
