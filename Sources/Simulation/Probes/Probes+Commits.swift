internal import PaymentCore

extension Probes {
    mutating func committed(_ commit: Commit, _ at: Timestamp, _ evidence: Evidence) {
        let payment = commit.after
        if commit.before == nil { memory.created.insert(payment.id) }
        if let last = memory.writers[payment.id] { note(.handedOn, last != commit.replica) }
        memory.writers[payment.id] = commit.replica
        if let due = commit.before?.dueAt { note(.longOverdue, at - due > .days(1)) }
        note(.latchUnacknowledged, payment.latch != .none && !payment.latchAcknowledged)
        note(.liedAbout, !evidence.misjudged.isEmpty)
        for entry in commit.entries { self.entry(entry, commit, evidence) }
        if commit.before?.refunds.count != payment.refunds.count { refunds(payment) }
        if let before = commit.before, before.conclusion == nil, let conclusion = payment.conclusion {
            concluded(payment, conclusion)
        }
        if let conclusion = commit.before?.conclusion, conclusion.state != .succeeded {
            note(.lateCharge, payment.legs.contains(where: Probes.stands))
        }
    }

    /// Whether it was seen standing, and is not known to be gone.
    private static func stands(_ leg: Leg) -> Bool {
        guard leg.gone == nil, let known = leg.knowledge else { return false }
        return known.status == .authorized || known.status == .captured && known.refunds.isEmpty
    }

    private mutating func entry(_ entry: AuditEntry, _ commit: Commit, _ evidence: Evidence) {
        switch entry.type {
        case .claimed: note(.takenOver, true)
        case .operation: operation(entry, commit)
        case .latch: latched(entry, commit)
        case .intent: note(.plugged, entry.value("row") == "undo.plug")
        case .decision: decided(entry, commit, evidence)
        case .quarantined: quarantined(entry, commit.after)
        case .resolved:
            note(.legRepaired, entry.value("effect") == nil)
            note(.refundRepaired, entry.value("effect") != nil)
        case .recovery:
            note(.recoveredUndecided, commit.before?.latch == Latch.none)
            note(.recoveredLatched, commit.before.map { $0.latch != .none } ?? false)
        case .created, .outcome, .inquiry, .alert, .concluded, .refund: break
        }
    }

    private mutating func operation(_ entry: AuditEntry, _ commit: Commit) {
        note(.captureFound, entry.value("operation") == "capture found")
        note(.refundFound, entry.value("operation") == "refund found")
        note(.repairRejected, entry.value("operation") == "repair rejected")
        guard let before = commit.before, entry.value("operation") == "cancel" else { return }
        note(.cancelBesideSend, before.legs.contains { $0.primary.open != nil })
        note(.canceledWhileResting, before.isResting)
    }

    private mutating func latched(_ entry: AuditEntry, _ commit: Commit) {
        note(.forwardByProof, entry.value("row") == "none.recovery-proof-forward")
        note(.backByProof, entry.value("row") == "none.recovery-proof-back")
        note(.captureLost, commit.after.latch == .compensate)
        note(
            .saleInDoubtYields,
            commit.after.latch == .back
                && commit.after.legs.contains {
                    $0.isOnePhase && $0.primary.worst == .indeterminate && $0.gone == nil
                })
    }

    private mutating func decided(_ entry: AuditEntry, _ commit: Commit, _ evidence: Evidence) {
        guard entry.value("decision") == "gone" else { return }
        note(.goneByProof, entry.value("cause") == GoneCause.neverHappened.rawValue)
        note(
            .changedOutsideFound,
            entry.value("status") == Observation.Status.voided.rawValue
                && entry.leg.flatMap { commit.after.leg($0) }.flatMap { leg in
                    evidence.provider(leg.provider)?.transaction(leg.primary.key, at: evidence.now)
                }?.changedOutside == true)
    }

    private mutating func quarantined(_ entry: AuditEntry, _ payment: Payment) {
        switch entry.value("cause").flatMap(QuarantineCause.init(rawValue:)) {
        case .contradiction: note(.contradictionFound, true)
        case .acceptedButMissing: note(.acceptedButMissing, true)
        case .keyTooOld: note(.keyTooOld, true)
        case .unconfirmed: note(.unconfirmed, true)
        case .undoImpossible: note(.undoImpossible, true)
        case .undoRefused: note(.undoRefused, true)
        case .refundInDoubt, .captureRequestLost, nil: break
        }
    }

    private mutating func refunds(_ payment: Payment) {
        let parts = payment.refunds.flatMap(\.parts)
        for (index, part) in parts.enumerated() {
            let others = parts.dropFirst(index + 1)
            note(
                .equalRefunds,
                others.contains { $0.leg == part.leg && $0.effect.amount == part.effect.amount })
        }
    }

    private mutating func concluded(_ payment: Payment, _ conclusion: Conclusion) {
        note(.holdExpired, conclusion.reason?.code == .authorizationExpired)
        note(.deadlinePassed, conclusion.reason?.code == .deadlinePassed)
        guard conclusion.state == .succeeded else { return }
        note(.credentialsCured, payment.legs.contains { $0.primary.credentialRefusals > 0 })
        if let capture = payment.capture {
            note(.partialCapture, zip(capture.amounts, payment.legs).contains { $0.value < $1.amount.value })
        }
    }

    /// What can only be seen when everything is at rest.
    public mutating func atRest(_ evidence: Evidence) {
        for payment in evidence.rows.everyPayment() {
            note(.refundBySums, payment.refunds.contains { $0.parts.contains { $0.effect.sumBefore != nil } })
            guard payment.legs.contains(where: { $0.quarantine != nil }) else { continue }
            note(
                .othersGoOn,
                payment.legs.contains {
                    $0.quarantine == nil && ($0.gone != nil || !$0.capturedAmount.isZero)
                })
        }
    }
}
