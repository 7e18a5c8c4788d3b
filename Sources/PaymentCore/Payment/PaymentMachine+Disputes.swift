// Disputes of a charge, as its provider shows them. They change no state of the payment. They hold back what would
// give money back beside them: who wins a dispute after a refund has been paid twice.

extension PaymentMachine {
    /// Takes in which disputes of a leg an observation shows.
    ///
    /// An inquiry shows what is, an answer may be the replay of an earlier one. Neither opens again what was decided:
    /// it may be older. A provider that does not know the charge any more decides about no dispute of it either: what
    /// waited for that goes on by the rows for what is denied (seed 29146168806368).
    mutating func noteDisputes(_ observation: Observation, leg index: Int, _ context: MachineContext) {
        let isInquiry = observation.source == .inquiry
        let isTold = isInquiry && ![.unavailable, .pending].contains(observation.status)
        guard isTold || observation.status == .captured,
            !StatusReading.contradicts(observation, leg: payment.legs[index])
        else { return }
        noteDisputes(observation.disputes ?? [], isAll: isInquiry, leg: index, context)
    }

    /// A listing shows disputes. It may be older than what was read since.
    mutating func disputed(leg index: Int, _ disputes: [Dispute], _ context: MachineContext) -> [PaymentAction] {
        guard payment.legs.indices.contains(index) else { return [] }
        let told = payment.legs[index].openDisputes
        noteDisputes(disputes, isAll: false, leg: index, context)
        return alertOfDisputes(leg: index, besides: told)
    }

    /// - Parameter isAll: Whether an open dispute that is not among them is over.
    private mutating func noteDisputes(_ shown: [Dispute], isAll: Bool, leg index: Int, _ context: MachineContext) {
        let known = payment.legs[index].disputes ?? []
        let shown = shown.filter { $0.amount.currency == payment.legs[index].amount.currency }
        guard !known.isEmpty || !shown.isEmpty else { return }
        var now = known.filter { $0.state != .open || !isAll }
        for dispute in shown {
            guard let place = now.firstIndex(where: { $0.id == dispute.id }) else {
                now.append(dispute)
                continue
            }
            if now[place].state == .open { now[place] = dispute }
        }
        now = Dispute.kept(now)
        guard now != known else { return }
        payment.legs[index].disputes = now.isEmpty ? nil : now
        tryAgainAfterDisputes(leg: index, known)
        for dispute in now where !known.contains(dispute) {
            record(
                .alert, leg: index,
                [
                    AuditField("what", "dispute \(dispute.state.rawValue)"), AuditField("dispute", dispute.id),
                    AuditField("amount", dispute.amount.description),
                ], context)
        }
        for dispute in known where dispute.state == .open && !now.contains(where: { $0.id == dispute.id }) {
            record(
                .alert, leg: index,
                [AuditField("what", "dispute not shown any more"), AuditField("dispute", dispute.id)], context)
        }
    }

    /// What undoes a leg must not fail: what was refused while a dispute was open is sent again once none is.
    private mutating func tryAgainAfterDisputes(leg index: Int, _ known: [Dispute]) {
        guard known.contains(where: { $0.state == .open }), payment.legs[index].openDisputes.isEmpty,
            payment.legs[index].compensation?.lastOutcome == .refused
        else { return }
        withEffect(.compensation, ofLeg: index) { $0.isInDoubtAgain() }
    }

    /// Tells people of disputes of a leg that they were not told of.
    func alertOfDisputes(leg index: Int, besides told: [Dispute]) -> [PaymentAction] {
        let isNew = payment.legs[index].openDisputes.contains { dispute in !told.contains { $0.id == dispute.id } }
        return isNew ? [alert(leg: index, "its payer disputes the charge; nothing is given back meanwhile")] : []
    }

    /// Refuses a refund of legs whose charge is disputed, unless it was made under this key already.
    func refuseDisputed(_ legs: [Int]) throws(OperationRefusal) {
        let disputed = legs.filter { !payment.legs[$0].openDisputes.isEmpty }
        guard let first = disputed.first, let dispute = payment.legs[first].openDisputes.first else { return }
        throw .disputed(leg: first, dispute: dispute.id)
    }
}
