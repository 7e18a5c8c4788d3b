/// A payment as the daemon shows it to its caller. Members that a later daemon adds are left out.
public struct Payment: Sendable, Hashable, Decodable {
    /// A leg of the payment.
    public struct Leg: Sendable, Hashable, Decodable {
        /// Its place in the create's legs, from 0.
        public let index: Int
        /// The provider's name.
        public let provider: String
        /// What is asked of this leg.
        public let amount: Money
        /// Where it stands, such as `captured` or `in_doubt`.
        public let state: String
        /// What was taken.
        public let captured: Money
        /// What was given back.
        public let refunded: Money
        /// The leg's own cause, if there is one.
        public let reason: Reason?
    }

    /// `pay_` and 40 hexadecimal digits. Derived from the caller and the key of the create.
    public let id: String
    /// Where it stands.
    public let state: PaymentState
    /// Why it stands there, if there is anything to explain.
    public let reason: Reason?
    /// What was asked for.
    public let amount: Money
    /// What was taken, over all legs.
    public let captured: Money
    /// What was given back, over all legs.
    public let refunded: Money
    /// The order's name.
    public let reference: String?
    /// What the payer has to do, while the state is `requires_action`.
    public let nextAction: NextAction?
    /// One for each provider that takes part.
    public let legs: [Leg]
    /// What was asked to be given back.
    public let refunds: [Refund]

    private enum CodingKeys: String, CodingKey {
        case id, state, reason, amount, captured, refunded, reference, legs, refunds
        case nextAction = "next_action"
    }
}

/// What the payer has to do at the provider or the bank.
public struct NextAction: Sendable, Hashable, Decodable {
    /// What kind of step it is. `redirect`: send the payer's browser to ``url``. New kinds may come.
    public let type: String
    /// Where the payer goes. It may hold a secret of the payment: show it to the payer alone.
    public let url: String
}

/// Where a payment stands. A later daemon may have more states, so that it is no enumeration.
public struct PaymentState: Sendable, Hashable, RawRepresentable, Decodable {
    /// The word that the daemon uses.
    public let rawValue: String

    /// A state by its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It is settling. Do not ship, and do not start another payment.
    public static let processing = PaymentState(rawValue: "processing")
    /// The payer has to do what ``Payment/nextAction`` says. Then pay the same order again, with the same client.
    public static let requiresAction = PaymentState(rawValue: "requires_action")
    /// All legs are held, and nothing is taken.
    public static let authorized = PaymentState(rawValue: "authorized")
    /// It was taken as asked. Final.
    public static let succeeded = PaymentState(rawValue: "succeeded")
    /// It is being undone.
    public static let canceling = PaymentState(rawValue: "canceling")
    /// Nothing is charged, as was asked, or because a hold ended. Final.
    public static let canceled = PaymentState(rawValue: "canceled")
    /// Nothing is charged. Final.
    public static let failed = PaymentState(rawValue: "failed")
    /// Two people decide. Never tell the customer that it failed: nobody knows.
    public static let quarantined = PaymentState(rawValue: "quarantined")

    /// Whether it never changes again.
    public var isFinal: Bool { [.succeeded, .canceled, .failed].contains(self) }
    /// Whether it stays so until somebody asks for something.
    public var isAtRest: Bool { isFinal || self == .authorized }
}

/// Money that was asked to be given back.
public struct Refund: Sendable, Hashable, Decodable {
    /// `ref_` and 40 hexadecimal digits.
    public let id: String
    /// Where it stands.
    public let state: RefundState
    /// The sum of its legs.
    public let amount: Money
    /// Why it failed or waits for people, or what its caller said.
    public let reason: Reason?
}

/// Where a refund stands.
public struct RefundState: Sendable, Hashable, RawRepresentable, Decodable {
    /// The word that the daemon uses.
    public let rawValue: String

    /// A state by its word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// It is settling.
    public static let processing = RefundState(rawValue: "processing")
    /// The money was given back. Final.
    public static let succeeded = RefundState(rawValue: "succeeded")
    /// A provider finally refused a leg's refund. Final.
    public static let failed = RefundState(rawValue: "failed")
    /// Two people decide.
    public static let quarantined = RefundState(rawValue: "quarantined")

    /// Whether it never changes again.
    public var isFinal: Bool { self == .succeeded || self == .failed }
}

/// Why something is as it is.
public struct Reason: Sendable, Hashable, Decodable {
    /// For programs, such as `declined`. New codes may come.
    public let code: String
    /// For people.
    public let detail: String?
}
