public import Foundation

/// What is asked for in `POST /v1/payments`.
public struct NewPayment: Sendable, Hashable, Codable {
    /// When what is held is taken.
    public enum Capture: String, Sendable, Hashable, Codable {
        /// As soon as every leg is held.
        case automatic
        /// Once it is asked for. The payment rests in `authorized` until then.
        case manual
    }

    /// One part of the payment, at one provider.
    public struct Leg: Sendable, Hashable, Codable {
        /// The provider's name in the daemon's configuration.
        public let provider: String
        /// The provider's token of what is charged. Never a card number.
        public let instrument: String
        /// This leg's part of the amount.
        public let amount: Money

        /// A part of the payment.
        public init(provider: String, instrument: String, amount: Money) {
            self.provider = provider
            self.instrument = instrument
            self.amount = amount
        }
    }

    /// The sum of the legs.
    public let amount: Money
    /// One to eight legs, in one currency.
    public let legs: [Leg]
    /// When what is held is taken.
    public let capture: Capture
    /// Notes that are returned as they are.
    public let metadata: [String: String]?
    /// When an undecided payment is rolled back. Without one, the daemon's own default.
    public let deadline: Date?
    /// Where the payer's browser comes back to after a step at the provider. Without it a provider that asks for such a
    /// step declines.
    public let returnURL: URL?
    /// The order's name, by which the payment is found. The client sets it.
    public internal(set) var reference: String?

    /// A payment that asks for these legs; their amounts add up to the amount.
    public init(
        amount: Money, legs: [Leg], capture: Capture = .automatic, metadata: [String: String]? = nil,
        deadline: Date? = nil, returnURL: URL? = nil
    ) {
        self.amount = amount
        self.legs = legs
        self.capture = capture
        self.metadata = metadata
        self.deadline = deadline
        self.returnURL = returnURL
    }

    private enum CodingKeys: String, CodingKey {
        case amount, legs, capture, metadata, deadline, reference
        case returnURL = "return_url"
    }

    /// Whether both ask for the same. A deadline or notes that were made anew ask for nothing else.
    func asksForTheSame(as other: NewPayment) -> Bool {
        amount == other.amount && legs == other.legs && capture == other.capture && reference == other.reference
    }
}
