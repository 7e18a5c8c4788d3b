/// A validated request to create a payment.
public struct CreateRequest: Sendable, Hashable {
    /// One leg of the request.
    public struct Leg: Sendable, Hashable {
        /// The provider.
        public let provider: ProviderName
        /// What is charged there.
        public let instrument: Instrument
        /// The amount.
        public let amount: Money

        /// A leg.
        public init(provider: ProviderName, instrument: Instrument, amount: Money) {
            self.provider = provider
            self.instrument = instrument
            self.amount = amount
        }
    }

    /// What can be wrong with a request, and in which field.
    public struct Failure: Error, Sendable, Hashable {
        /// The field, such as `legs[1].amount.currency`.
        public let field: String
        /// What is wrong, and what is allowed.
        public let detail: String

        /// A failure.
        public init(field: String, detail: String) {
            self.field = field
            self.detail = detail
        }
    }

    /// The most legs that a payment may have.
    public static let maximumLegs = 8

    /// Whose payment.
    public let caller: CallerID
    /// The caller's key.
    public let key: IdempotencyKey
    /// The whole amount.
    public let amount: Money
    /// The legs.
    public let legs: [Leg]
    /// When money is taken.
    public let captureMode: CaptureMode
    /// The caller's own reference.
    public let reference: String?
    /// The caller's own data.
    public let metadata: [String: String]
    /// Until when it must be complete.
    public let deadline: Timestamp?
    /// Where the payer is sent back to after a step at a provider. Without it a provider that asks for such a step
    /// declines.
    public let returnURL: WebAddress?

    /// Checks what holds for every payment: a positive amount, 1 to 8 legs of one currency that add up to it
    /// exactly, at
    /// most one of them one-phase, and none with manual capture.
    public init(
        caller: CallerID, key: IdempotencyKey, amount: Money, legs: [Leg], captureMode: CaptureMode = .automatic,
        reference: String? = nil, metadata: [String: String] = [:], deadline: Timestamp? = nil,
        returnURL: WebAddress? = nil,
        contracts: [ProviderName: ProviderContract]
    ) throws(Failure) {
        guard amount.value > 0 else {
            throw Failure(field: "amount.value", detail: "must be at least 1")
        }
        guard (1...CreateRequest.maximumLegs).contains(legs.count) else {
            throw Failure(field: "legs", detail: "1 to \(CreateRequest.maximumLegs) legs are allowed")
        }
        try CreateRequest.check(legs, amount: amount, captureMode: captureMode, contracts: contracts)
        self.caller = caller
        self.key = key
        self.amount = amount
        self.legs = legs
        self.captureMode = captureMode
        self.reference = reference
        self.metadata = metadata
        self.deadline = deadline
        self.returnURL = returnURL
    }

    private static func check(
        _ legs: [Leg], amount: Money, captureMode: CaptureMode, contracts: [ProviderName: ProviderContract]
    ) throws(Failure) {
        var onePhase = 0
        var sum = Money.zero(amount.currency)
        for (index, leg) in legs.enumerated() {
            guard let contract = contracts[leg.provider] else {
                let known = contracts.keys.sorted().map(\.name).joined(separator: ", ")
                throw Failure(
                    field: "legs[\(index)].provider",
                    detail: "unknown provider \(leg.provider); allowed: \(known)")
            }
            guard leg.amount.value > 0 else {
                throw Failure(field: "legs[\(index)].amount.value", detail: "must be at least 1")
            }
            do {
                sum = try sum.adding(leg.amount)
            } catch .currencyMismatch {
                throw Failure(
                    field: "legs[\(index)].amount.currency",
                    detail: "must be \(amount.currency), the currency of the payment")
            } catch {
                throw Failure(field: "legs[\(index)].amount.value", detail: "the sum of the legs is too large")
            }
            onePhase += contract.phases == .sale ? 1 : 0
            guard onePhase <= 1 else {
                throw Failure(
                    field: "legs[\(index)].provider",
                    detail: "at most one leg may be at a provider that takes money in one step")
            }
        }
        guard sum == amount else {
            throw Failure(field: "legs", detail: "add up to \(sum), must be exactly \(amount)")
        }
        guard onePhase == 0 || captureMode == .automatic else {
            throw Failure(
                field: "capture", detail: "manual is not possible with a provider that takes money in one step")
        }
    }
}
