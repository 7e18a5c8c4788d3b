internal import HTTPTransport
internal import PaymentCore

extension ProviderAdapter {
    /// Adyen's Checkout API, for stored cards (`docs/providers/adyen.md`).
    public static let adyen = ProviderAdapter(
        name: "adyen", contracts: ["adyen"], convertsAmounts: false,
        notifications: { AdyenNotifications(secrets: $0) }, fixed: fixedByAdyen,
        authorization: { source, _ in AdyenHeader(source: source) }, tokenProblem: AdyenCredentials.problem,
        make: { parts in
            AdyenProvider(
                name: parts.name, contract: parts.contract, store: parts.store, client: parts.client,
                clock: parts.clock, tokens: parts.tokens)
        })

    /// What Adyen's wire gives, and nothing in a configuration can change.
    private static let fixedByAdyen: [FixedProperty] = [
        FixedProperty(
            property: "inquiry", allowed: ["by_resend"], reason: "no request reads a payment",
            value: { $0.inquiry.rawValue }),
        FixedProperty(
            property: "phases", allowed: ["authorize_capture"],
            reason: "payments are captured by a request of their own",
            value: { $0.phases.rawValue }),
        FixedProperty(
            property: "cancel", allowed: ["only_if_present"],
            reason: "nothing says that a cancel keeps a payment away that comes after it",
            value: { $0.cancel.rawValue }),
        FixedProperty(
            property: "enforces_not_after", allowed: ["false"], reason: "Adyen knows no such moment",
            value: { String($0.enforcesNotAfter) }),
    ]
}

/// The two parts of Adyen's credentials. They never describe themselves.
struct AdyenCredentials: Sendable, Secretive {
    /// How the two stand in the one token of a configuration. A key may have colons, a merchant account has none.
    static let form = "MERCHANT_ACCOUNT:API_KEY"

    let merchant: String
    let key: String

    /// Takes a token apart; `nil` if it has another form.
    init?(_ token: String) {
        let parts = token.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        (merchant, key) = (parts[0], parts[1])
    }

    /// What a token must look like, if this one looks otherwise.
    static func problem(with token: String) -> String? {
        AdyenCredentials(token) == nil ? "two parts with a colon between, \(form)," : nil
    }
}

/// Puts the API key into each request (docs.adyen.com/development-resources/api-authentication).
struct AdyenHeader: Middleware {
    /// Where the credentials come from. They do not expire, so no answer makes them stale.
    let source: any TokenSource

    func send(_ request: HTTPRequest, next: any HTTPSender) async throws(TransportFailure) -> HTTPResponse {
        let token: BearerToken
        do {
            token = try await source.token()
        } catch {
            throw TransportFailure(
                code: error.code, phase: .waiting, bytesWritten: 0, detail: "no token: \(error.detail)")
        }
        guard let credentials = AdyenCredentials(token.secret) else {
            throw TransportFailure(
                code: .invalidRequest, phase: .waiting, bytesWritten: 0,
                detail: "the token is not \(AdyenCredentials.form)")
        }
        var signed = request
        signed.fields["X-API-Key"] = credentials.key
        return try await next.send(signed)
    }
}
