internal import PaymentCore

extension Probes {
    mutating func sent(_ order: SendOrder, _ at: Timestamp) {
        memory.sentAt[ProbeMemory.Attempt(key: order.key, number: order.number)] = at
    }

    mutating func arrived(
        _ order: SendOrder, _ outcome: OutcomeClass, _ code: String, _ at: Timestamp, _ evidence: Evidence
    ) {
        let sentAt = memory.sentAt[ProbeMemory.Attempt(key: order.key, number: order.number)]
        if let sentAt { note(.arrivedHoursLate, at - sentAt > .hours(1)) }
        let newest = memory.newestArrival[order.key] ?? 0
        note(.overtaken, newest > order.number)
        memory.newestArrival[order.key] = max(newest, order.number)
        switch order.kind {
        case .authorize, .sale: primaryArrived(order, outcome, code, sentAt, evidence)
        case .capture: note(.captureDeclined, outcome == .declined)
        case .void: voidArrived(order, outcome, code, evidence)
        case .refund:
            guard outcome == .accepted, code != "replayed" else { return }
            note(.compensated, order.effect == .compensation)
            let failedOver = memory.activeSites.count > 1
            note(.refundAfterFailover, failedOver)
        }
    }

    private mutating func primaryArrived(
        _ order: SendOrder, _ outcome: OutcomeClass, _ code: String, _ sentAt: Timestamp?,
        _ evidence: Evidence
    ) {
        note(.lateLandingAfterTombstone, code == "tombstoned")
        note(.refusedByNotAfter, code == "not_after_passed")
        note(.duplicateReplayed, code == "replayed")
        if outcome == .declined { memory.declined.insert(order.key) }
        guard outcome == .accepted, code != "replayed" else { return }
        let wasDeclined = memory.declined.contains(order.key)
        note(.unboundDeclineSucceeds, wasDeclined)
        if let sentAt, let missed = memory.notFoundAt[order.key] {
            note(.executedAfterNotFound, missed > sentAt)
        }
        note(
            .landedAfterTheEnd,
            evidence.rows.payment(order.payment)?.conclusion.map { $0.state != .succeeded } ?? false)
        note(
            .keyUsedAnew,
            (evidence.provider(order.provider)?.transactions(
                of: order.payment, leg: order.leg, at: evidence.now) ?? [])
                .filter { $0.key == order.key && $0.status != .declined }.count > 1)
    }

    private mutating func voidArrived(
        _ order: SendOrder, _ outcome: OutcomeClass, _ code: String, _ evidence: Evidence
    ) {
        note(.tombstoneForUnused, code == "tombstoned")
        note(.voidLostToCapture, code == "conflict_captured")
        note(.payerCanceled, code == SimulatedProvider.payerCanceled)
        note(
            .saleReversed,
            code == "voided"
                && evidence.provider(order.provider)?.transaction(order.transactionKey, at: evidence.now)?
                    .kind == .sale
        )
    }

    /// A replica takes in what a read brought.
    mutating func read(
        _ observation: Observation, leg index: Int, of id: PaymentID, _ evidence: Evidence
    ) {
        guard let payment = evidence.rows.payment(id), let leg = payment.leg(index) else { return }
        let isConclusive = observation.status != .unavailable && observation.status != .pending
        note(.payerAsked, observation.awaitsPayer)
        note(.payerActed, leg.knowledge?.awaitsPayer == true && observation.status == .authorized)
        note(.resolvedByInquiry, isConclusive && leg.primary.worst == .indeterminate)
        if observation.status == .notFound { memory.notFoundAt[leg.primary.key] = observation.began }
        note(
            .staleRead,
            observation.status == .notFound
                && evidence.provider(leg.provider)?.transaction(leg.primary.key, at: evidence.now) != nil)
    }
}
