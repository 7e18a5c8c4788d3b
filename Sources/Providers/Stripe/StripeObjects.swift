internal import PaymentCore
internal import StrictJSON

// Stripe's objects, as much of each as decisions need (docs.stripe.com/api). Members that nobody asks for are ignored;
// what money depends on is required. If anything is missing or odd, the whole answer does not parse.

/// A PaymentIntent.
struct StripeIntent: Sendable, Hashable {
    /// docs.stripe.com/payments/paymentintents/lifecycle
    enum Status: String, Sendable, CaseIterable {
        case requiresPaymentMethod = "requires_payment_method"
        case requiresConfirmation = "requires_confirmation"
        case requiresAction = "requires_action"
        case processing
        case requiresCapture = "requires_capture"
        case succeeded
        case canceled
    }

    let id: String
    let status: Status
    let amount: Int64
    let amountReceived: Int64
    let currency: String
    let transferGroup: String?
    let metadata: [String: String]
    /// `automatic` where Stripe itself ended a hold that ran out.
    let cancellationReason: String?
    /// Only where the request expanded it, and once it was confirmed.
    let latestCharge: StripeCharge?
    /// Where the payer is sent to, while that is what it waits for.
    let payerURL: WebAddress?

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.word("status")
        amount = try object.wholeNumber("amount")
        amountReceived = try object.optionalWholeNumber("amount_received") ?? 0
        currency = try object.text("currency")
        transferGroup = try object.optionalText("transfer_group")
        metadata = try object.optionalTexts("metadata")
        cancellationReason = try object.optionalText("cancellation_reason")
        if case .object? = object.optional("latest_charge") {
            latestCharge = try StripeCharge(object.object("latest_charge"))
        } else {
            latestCharge = nil
        }
        let redirect = try object.optionalObject("next_action")?.optionalObject("redirect_to_url")
        payerURL = try redirect?.optionalText("url").flatMap { WebAddress($0) }
        guard id.hasPrefix("pi_"), amount >= 0, amountReceived >= 0 else { throw MalformedAnswer() }
    }
}

/// A Charge: one try to take money for an intent.
struct StripeCharge: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        case succeeded
        case pending
        case failed
    }

    let id: String
    let status: Status
    let amount: Int64
    let amountCaptured: Int64
    let currency: String
    let isDisputed: Bool
    let failureCode: String?
    let transferGroup: String?
    let metadata: [String: String]
    /// Whether its money was taken, and not only held.
    let isCaptured: Bool
    /// Whether all of it was given back or released.
    let isRefunded: Bool
    /// When it was made.
    let created: Timestamp
    /// When its money was taken; only where the request expanded its balance transaction.
    let takenAt: Timestamp?
    /// The end of the hold.
    let captureBefore: Timestamp?
    /// `nil` where the request did not expand it.
    let refunds: [StripeRefund]?
    /// Whether there are more refunds than these.
    let hasMoreRefunds: Bool
    /// Only where the request expanded it. Boxed, because an intent holds a charge.
    let intents: [StripeIntent]

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.word("status")
        amount = try object.wholeNumber("amount")
        amountCaptured = try object.wholeNumber("amount_captured")
        currency = try object.text("currency")
        isDisputed = try object.flag("disputed")
        failureCode = try object.optionalText("failure_code")
        transferGroup = try object.optionalText("transfer_group")
        metadata = try object.optionalTexts("metadata")
        isCaptured = try object.flag("captured")
        isRefunded = try object.flag("refunded")
        created = try StripeMoment.required("created", of: object)
        if case .object? = object.optional("balance_transaction") {
            takenAt = try StripeMoment.optional("created", of: object.object("balance_transaction"))
        } else {
            takenAt = nil
        }
        let card = try object.optionalObject("payment_method_details")?.optionalObject("card")
        captureBefore = try card.flatMap { card throws(MalformedAnswer) in
            try StripeMoment.optional("capture_before", of: card)
        }
        if let list = try object.optionalObject("refunds") {
            refunds = try list.list("data", of: StripeRefund.init)
            hasMoreRefunds = try list.flag("has_more")
        } else {
            refunds = nil
            hasMoreRefunds = false
        }
        if case .object? = object.optional("payment_intent") {
            intents = [try StripeIntent(object.object("payment_intent"))]
        } else {
            intents = []
        }
        guard Self.isID(id), amount >= 0, amountCaptured >= 0 else { throw MalformedAnswer() }
    }

    /// Whether a text looks like the identifier of a charge.
    static func isID(_ text: String) -> Bool { text.hasPrefix("ch_") || text.hasPrefix("py_") }
}

/// Moments of Stripe's: seconds since 1970.
enum StripeMoment {
    /// What overflows is no moment.
    static func optional(_ name: String, of object: AnswerObject) throws(MalformedAnswer) -> Timestamp? {
        guard let seconds = try object.optionalWholeNumber(name) else { return nil }
        guard (0...253_402_300_799).contains(seconds) else { throw MalformedAnswer() }
        return Timestamp(milliseconds: seconds * 1_000)
    }

    /// A moment that must be there.
    static func required(_ name: String, of object: AnswerObject) throws(MalformedAnswer) -> Timestamp {
        guard let moment = try optional(name, of: object) else { throw MalformedAnswer() }
        return moment
    }
}

/// A Refund. Stripe also makes one, without our metadata, for what a cancel or a capture of a part gives free.
struct StripeRefund: Sendable, Hashable {
    enum Status: String, Sendable, CaseIterable {
        case pending
        case requiresAction = "requires_action"
        case succeeded
        case failed
        case canceled
    }

    let id: String
    let status: Status
    let amount: Int64
    let currency: String
    let metadata: [String: String]
    let failureReason: String?
    let created: Timestamp?
    /// Whether it moved money. What a cancel or a capture of a part gives free moves none.
    let hasMoved: Bool
    /// The balance transaction by which its money came back, because it failed after it had succeeded
    /// (docs.stripe.com/refunds#failed-refunds).
    let cameBackBy: String?
    /// When it came back. The refund itself does not say: see ``StripeProvider/dated(_:)``.
    var cameBackAt: Timestamp?
    /// When its money moved, as far as it is known: away, and back.
    var movedAt: [Timestamp] { [hasMoved ? created : nil, cameBackAt].compactMap { $0 } }

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.word("status")
        amount = try object.wholeNumber("amount")
        currency = try object.text("currency")
        metadata = try object.optionalTexts("metadata")
        failureReason = try object.optionalText("failure_reason")
        created = try StripeMoment.optional("created", of: object)
        hasMoved = object.optional("balance_transaction") != nil
        cameBackBy = try object.optionalText("failure_balance_transaction")
        guard amount >= 0 else { throw MalformedAnswer() }
    }
}

/// A Dispute (docs.stripe.com/api/disputes/object).
struct StripeDispute: Sendable, Hashable {
    let id: String
    let status: String
    let amount: Int64
    let currency: String
    /// Whether Stripe gives the charge back all the same.
    let isChargeRefundable: Bool
    let created: Timestamp?
    /// When money moved by it: it is taken when the dispute is opened, and comes back where it is won.
    let movedAt: [Timestamp]

    /// Whether a bank asks, and nobody disputes: it has taken nothing, and a refund is how it is ended
    /// (docs.stripe.com/disputes/how-disputes-work). One that can no longer be refunded counts as a dispute.
    var isInquiry: Bool { status.hasPrefix("warning_") && isChargeRefundable }

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        status = try object.text("status")
        amount = try object.wholeNumber("amount")
        currency = try object.text("currency")
        isChargeRefundable = try object.optionalFlag("is_charge_refundable") ?? false
        created = try StripeMoment.optional("created", of: object)
        movedAt =
            object.optional("balance_transactions") == nil
            ? []
            : try object.list("balance_transactions") { movement throws(MalformedAnswer) in
                try StripeMoment.required("created", of: movement)
            }
        guard amount >= 0, (1...Dispute.longestID).contains(id.utf8.count) else { throw MalformedAnswer() }
    }
}

/// One page of a list.
struct StripeList<Item: Sendable>: Sendable {
    let data: [Item]
    let hasMore: Bool

    init(
        _ object: AnswerObject, of item: (AnswerObject) throws(MalformedAnswer) -> Item
    ) throws(MalformedAnswer) {
        guard try object.text("object") == "list" else { throw MalformedAnswer() }
        data = try object.list("data", of: item)
        hasMore = try object.flag("has_more")
    }
}

/// What is wrong with a request (docs.stripe.com/api/errors).
struct StripeError: Sendable, Hashable {
    let type: String
    let code: String?
    let declineCode: String?
    let parameter: String?
    /// The intent as it is, where the error is about one.
    let intent: StripeIntent?

    /// Reads the body of an answer that is an error.
    init(_ object: AnswerObject) throws(MalformedAnswer) {
        let error = try object.object("error")
        type = try error.text("type")
        code = try error.optionalText("code")
        declineCode = try error.optionalText("decline_code")
        parameter = try error.optionalText("param")
        intent = try error.optionalObject("payment_intent").map { object throws(MalformedAnswer) in
            try StripeIntent(object)
        }
    }
}
