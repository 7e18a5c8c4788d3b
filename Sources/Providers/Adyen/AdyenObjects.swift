internal import PaymentCore

// Adyen's objects, as much of each as decisions need (docs.adyen.com/api-explorer/Checkout/71). Members that nobody
// asks for are ignored; what money depends on is required. If anything is missing or odd, the whole answer does not
// parse.

/// An amount in Adyen's count.
struct AdyenAmount: Encodable, Sendable, Hashable {
    let value: Int64
    let currency: String

    init(value: Int64, currency: String) {
        (self.value, self.currency) = (value, currency)
    }

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        value = try object.wholeNumber("value")
        currency = try object.text("currency")
        guard value >= 0 else { throw MalformedAnswer() }
    }
}

/// The answer to `POST /payments`.
struct AdyenPayment: Sendable, Hashable {
    /// What it came to.
    enum Result: String, Sendable, CaseIterable {
        case authorised = "Authorised"
        case partiallyAuthorised = "PartiallyAuthorised"
        case refused = "Refused"
        case cancelled = "Cancelled"
        case error = "Error"
        case pending = "Pending"
        case received = "Received"
        /// The payer has to do something.
        case actionRequired
    }

    /// What asks the payer to do something.
    private static let actions: Set<String> = [
        "RedirectShopper", "IdentifyShopper", "ChallengeShopper", "PresentToShopper",
    ]

    let result: Result
    /// Adyen's; `nil` where the payer has to do something first, since there is no payment yet.
    let pspReference: String?
    /// Ours.
    let merchantReference: String?
    let amount: AdyenAmount?
    let refusal: String?

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        let word = try object.text("resultCode")
        guard let result = Result(rawValue: word) ?? (Self.actions.contains(word) ? .actionRequired : nil),
            result != .actionRequired || word != Result.actionRequired.rawValue
        else { throw MalformedAnswer() }
        self.result = result
        let named = try object.optionalText("pspReference")
        guard named != nil || result == .actionRequired else { throw MalformedAnswer() }
        pspReference = try named.map { text throws(MalformedAnswer) in try AdyenReference.read(text) }
        merchantReference = try object.optionalText("merchantReference")
        amount = try object.optionalObject("amount").map { object throws(MalformedAnswer) in try AdyenAmount(object) }
        refusal = try object.optionalText("refusalReason")
    }
}

/// The answer to a capture, a refund or a cancel.
struct AdyenModification: Sendable, Hashable {
    let pspReference: String
    let paymentPSPReference: String?
    let reference: String?
    let amount: AdyenAmount?

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        guard try object.text("status") == "received" else { throw MalformedAnswer() }
        pspReference = try AdyenReference.read(object.text("pspReference"))
        paymentPSPReference = try object.optionalText("paymentPspReference")
        reference = try object.optionalText("reference")
        amount = try object.optionalObject("amount").map { object throws(MalformedAnswer) in try AdyenAmount(object) }
    }
}

/// Adyen's own references: capital letters and digits. They go into paths, so nothing else is let through.
enum AdyenReference {
    static func read(_ text: String) throws(MalformedAnswer) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        guard isPlain, (1...64).contains(text.utf8.count) else { throw MalformedAnswer() }
        return text
    }
}
