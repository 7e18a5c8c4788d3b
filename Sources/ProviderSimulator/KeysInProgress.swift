import Synchronization

/// Keys whose first request is not answered yet. Stripe and Adyen refuse a second one until then.
final class KeysInProgress: Sendable {
    private struct Name: Hashable {
        let provider: String
        let key: String
    }

    private let ends = Mutex<[Name: Int64]>([:])

    /// A request that is answered at this moment, in milliseconds by the simulator's clock, keeps its key until then.
    func keep(_ request: ProviderRequest, until end: Int64, now: Int64) {
        guard let name = Self.name(of: request) else { return }
        ends.withLock { ends in
            ends = ends.filter { $0.value > now }
            ends[name] = end
        }
    }

    /// How a request is refused whose key is in progress; `nil` if it is not.
    func refusal(of request: ProviderRequest, now: Int64) -> Answer? {
        guard let name = Self.name(of: request), let end = ends.withLock({ $0[name] }), end > now else { return nil }
        switch request.command {
        case .stripe:
            // docs.stripe.com/error-codes
            let answer = StripeAnswer.error(
                409, "invalid_request_error", code: "idempotency_key_in_use",
                "There is currently another in-progress request using this Idempotency-Key.")
            return Answer(status: 409, content: .stripe(answer)).naming(request)
        case .adyen:
            // docs.adyen.com/development-resources/api-idempotency
            let answer = AdyenAnswer(
                AdyenRefusal(422, "704", "Request already processed or in progress", "validation", isTransient: true))
            return Answer(status: 422, content: .adyen(answer)).naming(request)
        default: return nil
        }
    }

    private static func name(of request: ProviderRequest) -> Name? {
        switch request.command {
        case .stripe(let call): call.idempotencyKey.map { Name(provider: request.provider, key: $0) }
        case .adyen(let call): call.idempotencyKey.map { Name(provider: request.provider, key: $0) }
        default: nil
        }
    }
}
