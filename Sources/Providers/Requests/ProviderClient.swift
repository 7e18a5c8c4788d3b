internal import Foundation
internal import HTTPTransport
public import PaymentCore
internal import Reconciler

/// Puts requests of a provider on the wire, each of them once.
struct ProviderClient: Sendable {
    /// Where the provider is.
    let address: ProviderAddress
    /// The middleware stack of this provider alone, with the wire at its end.
    let sender: any HTTPSender
    /// How long each part of a request may take.
    let limits: TimeLimits

    /// Sends a request and passes its complete answer on, whatever it says.
    ///
    /// Not one byte is written after `startBefore`.
    ///
    /// - Throws: how far the request got.
    func exchange<Request: ProviderRequest>(
        _ request: Request, startBefore: ContinuousClock.Instant? = nil
    ) async throws(TransportFailure) -> HTTPResponse {
        try await sender.send(wireForm(of: request, startBefore: startBefore))
    }

    /// Sends a request and reads its answer.
    ///
    /// - Throws: why there is no readable answer.
    func perform<Request: ProviderRequest>(
        _ request: Request, startBefore: ContinuousClock.Instant? = nil
    ) async throws(ProviderCallFailure) -> Request.Response where Request.ReadingFailure == AnswerFailure {
        let response: HTTPResponse
        do {
            response = try await exchange(request, startBefore: startBefore)
        } catch {
            throw ProviderCallFailure(transport: error, operation: Request.label)
        }
        do {
            return try request.decode(response)
        } catch {
            throw ProviderCallFailure(answer: error, operation: Request.label)
        }
    }

    /// The request as it goes over the wire, but for what the middleware adds.
    func wireForm<Request: ProviderRequest>(
        of request: Request, startBefore: ContinuousClock.Instant?
    ) throws(TransportFailure) -> HTTPRequest {
        var wire = HTTPRequest(
            method: request.method, url: address.url(path: request.path, query: request.query),
            limits: limits,
            startBefore: startBefore, maximumResponseBytes: request.maximumResponseBytes,
            label: Request.label, endpoint: Request.endpoint,
            flightKey: request.flightKey, lane: ProviderTurn.current?.caller.name ?? "",
            begins: ProviderTurn.current?.begins ?? false)
        wire.fields["Accept"] = "application/json, application/problem+json"
        if let notAfter = request.notAfter { wire.fields["Not-After"] = notAfter.rfc3339 }
        for field in request.fields { wire.fields[field.name] = field.value }
        if let form = request.form {
            wire.fields["Content-Type"] = "application/x-www-form-urlencoded"
            wire.body = Array(PercentEncoding.pairs(form).utf8)
        } else if let body = request.body {
            wire.fields["Content-Type"] = "application/json"
            wire.body = try Self.encoded(body)
        }
        return wire
    }

    /// The same value always gives the same bytes.
    private static func encoded(_ body: some Encodable) throws(TransportFailure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(body))
        } catch {
            // The encoder's own words may quote what it could not encode, so they are not repeated.
            throw TransportFailure(
                code: .invalidRequest, phase: .waiting, detail: "the body cannot be encoded")
        }
    }
}

/// Why a request to a provider has no answer that can be used.
///
/// Of what it means for money, this says nothing.
public struct ProviderCallFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// A short constant code, such as `read_timeout` or `http_500`.
    public let code: String
    /// The constant name of the operation, such as `list_transactions`.
    public let operation: String
    /// The status of the answer, if there was one.
    public let status: Int?
    /// How long the provider wants to be left alone, where it said so.
    public let retryAfter: RetryAfter?

    init(code: String, operation: String, status: Int? = nil, retryAfter: RetryAfter? = nil) {
        self.code = code
        self.operation = operation
        self.status = status
        self.retryAfter = retryAfter
    }

    init(transport failure: TransportFailure, operation: String) {
        self.init(code: failure.auditCode, operation: operation)
    }

    init(answer failure: AnswerFailure, operation: String) {
        self.init(
            code: failure.code, operation: operation, status: failure.status, retryAfter: failure.retryAfter)
    }

    /// Operation and code.
    public var description: String { "\(operation): \(code)" }
}
