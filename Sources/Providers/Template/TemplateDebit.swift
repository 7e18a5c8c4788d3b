internal import PaymentCore

/// A debit as the service shows it. Members that nobody asks for are ignored; what money depends on is required. If
/// anything is missing or odd, the whole answer does not parse, and is evidence of nothing.
struct TemplateDebit: Sendable {
    enum Status: String, Sendable {
        case pending = "PENDING"
        case taken = "TAKEN"
        case declined = "DECLINED"
        case reversed = "REVERSED"
    }

    /// A refund of it.
    struct Refund: Sendable {
        enum Status: String, Sendable {
            case pending = "PENDING"
            case done = "DONE"
            case declined = "DECLINED"
        }

        let reference: String
        let amount: Int64
        let status: Status
        let reason: String?

        init(_ object: AnswerObject) throws(MalformedAnswer) {
            reference = try object.text("reference")
            amount = try object.wholeNumber("amount")
            status = try object.word("status")
            reason = try object.optionalText("reason")
            guard (1...128).contains(reference.utf8.count), amount >= 0 else { throw MalformedAnswer() }
        }
    }

    let reference: String
    let amount: Int64
    let unit: String
    let status: Status
    let reason: String?
    let note: String?
    let refunds: [Refund]

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        reference = try object.text("reference")
        amount = try object.wholeNumber("amount")
        unit = try object.text("unit")
        status = try object.word("status")
        reason = try object.optionalText("reason")
        note = try object.optionalText("note")
        refunds = try object.list("refunds", of: Refund.init)
        // Two refunds under one reference could not both be true.
        guard amount >= 0, Set(refunds.map(\.reference)).count == refunds.count else { throw MalformedAnswer() }
    }
}

/// Turns a debit into the core's words.
struct TemplateReading: Sendable {
    let amounts: AmountFormat
    /// How keys of ours are spelled.
    let keyFormat: KeyFormat

    /// The observation. What cannot be what was asked for is marked as a contradiction, and never left out.
    ///
    /// - Parameters:
    ///   - payment: whose debit it should be.
    ///   - began: the moment before the request was sent. A proof counts from the beginning of its read.
    func observation(
        of debit: TemplateDebit, payment: PaymentID, began: Timestamp, source: Observation.Source
    ) -> Observation {
        var observation = Observation(
            Self.status(debit.status), began: began, source: source, key: key(debit.reference),
            amount: money(debit.amount, debit.unit), reason: ShortCode.of(debit.reason))
        if observation.amount == nil { observation.contradiction = "amount_unreadable" }
        for refund in debit.refunds {
            guard let amount = money(refund.amount, debit.unit) else {
                observation.contradiction = "amount_unreadable"
                continue
            }
            observation.refunds.append(
                Observation.Movement(
                    key: key(refund.reference), amount: amount, state: Self.state(refund.status),
                    reason: ShortCode.of(refund.reason)))
        }
        if let note = debit.note, note != payment.text { observation.contradiction = "another_payment" }
        return observation
    }

    /// A key as we spell it: some services show it in another case than it was given.
    func key(_ text: String) -> EffectKey { EffectKey(reported: keyFormat.spelled(text)) }

    private func money(_ amount: Int64, _ unit: String) -> Money? {
        amounts.money(WireAmount(value: amount, currency: unit))
    }

    private static func status(_ status: TemplateDebit.Status) -> Observation.Status {
        switch status {
        case .pending: .pending
        case .taken: .captured
        case .declined: .declined
        case .reversed: .voided
        }
    }

    private static func state(_ status: TemplateDebit.Refund.Status) -> Observation.Movement.State {
        switch status {
        case .pending: .pending
        case .done: .succeeded
        case .declined: .declined
        }
    }
}
