internal import PaymentCore
internal import StrictJSON

/// A balance transaction: money that moved (docs.stripe.com/api/balance_transactions/object).
struct StripeMovement: Sendable, Hashable {
    let id: String
    let created: Timestamp
    /// The charge whose money moved; `nil` for a payout, a fee and whatever else is of no charge.
    let charge: String?

    init(_ object: AnswerObject) throws(MalformedAnswer) {
        id = try object.text("id")
        created = try StripeMoment.required("created", of: object)
        guard case .object? = object.optional("source") else {
            charge = nil
            return
        }
        let source = try object.object("source")
        switch try source.text("object") {
        case "charge": charge = try source.text("id")
        // A refund of what was never charged does not exist; that of a transfer names none.
        case "refund", "dispute": charge = try source.optionalText("charge")
        default: charge = nil
        }
    }
}

extension StripeTransaction {
    /// When it changed last, as far as its own dates tell.
    var changedAt: Timestamp? { changes.map(\.at).max() }

    /// What moved its money last; `nil` where none moved.
    var lastMovement: String? { changes.filter { $0.source != nil }.max { $0.at < $1.at }?.source }

    private var changes: [(at: Timestamp, source: String?)] {
        var changes: [(at: Timestamp, source: String?)] = []
        if let charge {
            changes.append((charge.created, nil))
            if let takenAt = charge.takenAt { changes.append((takenAt, charge.id)) }
        }
        for refund in refunds { changes += refund.movedAt.map { ($0, refund.id) } }
        for dispute in disputes where !dispute.isInquiry {
            changes += (dispute.movedAt + [dispute.created].compactMap { $0 }).map { ($0, dispute.id) }
        }
        return changes
    }
}

extension StripeReading {
    /// A transaction as it is compared, and its disputes; `nil` if it shows none.
    ///
    /// - Parameter listedAt: where the listing shows it; without it, where its own dates put it.
    func listed(
        _ transaction: StripeTransaction, at listedAt: Timestamp? = nil
    ) -> (position: ListedPosition, disputes: [Dispute]?)? {
        let moments = [transaction.changedAt, listedAt].compactMap { $0 }
        let metadata = transaction.intent.metadata
        let key = ours(transaction.intent.transferGroup ?? transaction.intent.id)
        let observation = observation(
            of: transaction, key: key, payment: nil, began: moments.max() ?? Timestamp(milliseconds: 0),
            source: .inquiry)
        let position = ListedPosition(
            observation, key: key, payment: metadata[StripeMetadata.payment].flatMap { PaymentID(text: $0) },
            leg: metadata[StripeMetadata.leg].flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 },
            createdAt: transaction.charge?.created, updatedAt: moments.max(),
            store: metadata[WireTransaction.storeName].flatMap { StoreID(text: $0) },
            phases: phases)
        return position.map { ($0, observation.disputes) }
    }

    /// A charge that bears no key of ours, such as one that another system made on the account.
    func position(ofForeign charge: StripeCharge, refunds: [StripeRefund], listedAt: Timestamp?) -> ListedPosition? {
        let moments =
            [charge.created, charge.takenAt, listedAt].compactMap { $0 }
            + refunds.flatMap(\.movedAt)
        let key = EffectKey(reported: charge.id)
        var observation = Observation(
            Self.status(of: charge), began: moments.max() ?? Timestamp(milliseconds: 0), source: .inquiry, key: key,
            amount: StripeAmounts.money(charge.isCaptured ? charge.amountCaptured : charge.amount, charge.currency))
        if observation.amount == nil { observation.contradiction = "amount_unreadable" }
        for refund in refunds where refund.hasMoved {
            guard let amount = StripeAmounts.money(refund.amount, refund.currency) else {
                observation.contradiction = "amount_unreadable"
                continue
            }
            observation.refunds.append(
                Observation.Movement(
                    key: EffectKey(reported: refund.id), amount: amount, state: Self.state(refund.status)))
        }
        return ListedPosition(
            observation, key: key, payment: nil, leg: nil, createdAt: charge.created, updatedAt: moments.max(),
            phases: .sale)
    }

    private static func status(of charge: StripeCharge) -> Observation.Status {
        switch charge.status {
        case .failed: .declined
        case .pending: .pending
        case .succeeded where charge.isCaptured: .captured
        case .succeeded: charge.isRefunded ? .voided : .authorized
        }
    }
}

extension StripeCharge {
    /// Whether no later charge of its intent is to be expected: after a decline the intent may have been charged again.
    var isLast: Bool {
        guard status == .failed, let intent = intents.first else { return true }
        return intent.status == .requiresPaymentMethod || intent.status == .canceled
    }

    /// The key under which we know it; `nil` for one that is not ours. A `transfer_group` alone may be anybody's.
    func ourKey(_ reading: StripeReading) -> EffectKey? {
        guard let group = transferGroup, let intent = intents.first,
            intent.metadata[StripeMetadata.key] == group
        else { return nil }
        return reading.ours(group)
    }
}
