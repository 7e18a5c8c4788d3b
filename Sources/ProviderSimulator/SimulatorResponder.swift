import Foundation
import Hummingbird

/// Answers every request: the providers' routes, and the control API.
struct SimulatorResponder: HTTPResponder {
    typealias Context = ConnectionContext

    static let maximumBodyBytes = 65_536

    let processor: RequestProcessor
    let readers: [String: any WireReader]
    let control: ControlRoutes
    let allowsRemoteControl: Bool

    func respond(to request: Request, context: ConnectionContext) async throws -> Response {
        let path = request.uri.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(
            String.init)
        guard let first = path.first else { return try render(.problem(.notFound)) }
        var query: [String: String] = [:]
        for (name, value) in request.uri.queryParameters {
            ReceivedMessage.add(name.removingPercentEncoding ?? String(name), String(value), to: &query)
        }
        let message = ReceivedMessage(
            method: request.method.rawValue, path: Array(path.dropFirst()), query: query,
            authorization: request.headers[.authorization], contentType: request.headers[.contentType],
            notAfter: request.headers.first { $0.name.canonicalName == "not-after" }?.value,
            idempotencyKey: request.headers.first { $0.name.canonicalName == "idempotency-key" }?.value,
            sentPath: request.uri.path,
            merchant: request.headers.first { $0.name.canonicalName == "x-assume-merchant" }?.value,
            apiKey: request.headers.first { $0.name.canonicalName == "x-api-key" }?.value,
            body: await body(request))
        if first == "_control" {
            guard allowsRemoteControl || context.isLoopback else { return try render(.problem(.notFound)) }
            return await control.respond(to: message)
        }
        guard let reader = readers[first] else { return try render(.problem(.notFound)) }
        guard let understood = reader.read(message) else { return try render(reader.unknownRoute(message)) }
        return try await deliver(processor.receive(understood), context)
    }

    /// Nil when it is too large, or broke off: then the caller is gone as well.
    private func body(_ request: Request) async -> Data? {
        do {
            let buffer = try await request.body.collect(upTo: Self.maximumBodyBytes)
            return Data(buffer.readableBytesView)
        } catch {
            return nil
        }
    }

    private func deliver(_ delivery: Delivery, _ context: ConnectionContext) async throws -> Response {
        switch delivery {
        case .answer(let answer, let afterMs):
            try await wait(afterMs)
            return try render(answer)
        case .answerWithoutStatus(let answer):
            return try render(answer, omittingStatus: true)
        case .truncated(let answer):
            return try renderHalf(answer)
        case .close(let afterMs):
            try await wait(afterMs)
            await context.close()
            return Response(status: .serviceUnavailable)
        case .executeLater(let request, let afterMs):
            try await wait(afterMs)
            return try render(try await processor.arrive(request))
        }
    }

    private func wait(_ milliseconds: Int64) async throws {
        if milliseconds > 0 { try await Task.sleep(for: .milliseconds(milliseconds)) }
    }

    private func render(_ answer: Answer, omittingStatus: Bool = false) throws -> Response {
        let body = try answer.body(omittingStatus: omittingStatus)
        return Response(
            status: .init(code: answer.status), headers: headers(answer),
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }

    /// Announces the whole length and ends the connection in the middle.
    private func renderHalf(_ answer: Answer) throws -> Response {
        let body = try answer.body()
        let half = ByteBuffer(bytes: body.prefix(body.count / 2))
        return Response(
            status: .init(code: answer.status), headers: headers(answer),
            body: ResponseBody(contentLength: body.count) { writer in
                try await writer.write(half)
                throw BrokenOffOnPurpose()
            })
    }

    private func headers(_ answer: Answer) -> HTTPFields {
        var headers: HTTPFields = [.contentType: answer.contentType]
        if let seconds = answer.retryAfterSeconds { headers[.retryAfter] = String(seconds) }
        if case .stripe(let stripe) = answer.content { add(stripe, to: &headers) }
        if case .adyen(let adyen) = answer.content { add(adyen, to: &headers) }
        if answer.status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        return headers
    }

    private func add(_ answer: AdyenAnswer, to headers: inout HTTPFields) {
        if let key = answer.idempotencyKey, let name = HTTPFields.Element.Name("Idempotency-Key") {
            headers[name] = key
        }
        if answer.status >= 400, let name = HTTPFields.Element.Name("transient-error") {
            headers[name] = String(answer.isTransient)
        }
    }

    private func add(_ answer: StripeAnswer, to headers: inout HTTPFields) {
        var more = [("Request-Id", "req_" + UUID().uuidString.prefix(13).replacing("-", with: ""))]
        if let key = answer.idempotencyKey { more.append(("Idempotency-Key", key)) }
        if answer.isReplay { more.append(("Idempotent-Replayed", "true")) }
        if answer.isReplay, answer.status >= 400 { more.append(("Stripe-Should-Retry", "false")) }
        for (name, value) in more {
            if let name = HTTPFields.Element.Name(name) { headers[name] = value }
        }
    }
}

/// Makes the server drop the connection after what was written so far.
private struct BrokenOffOnPurpose: Error {}
