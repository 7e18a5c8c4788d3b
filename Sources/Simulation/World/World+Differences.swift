internal import PaymentCore
internal import Reconciler

/// What a comparison's policy wants, handed to the payments' machines as `DifferenceSettlement` does it: at least once.
extension World {
    /// Hands an order on; `false` if that cannot be done now, so that the run is let go of and comes to it again.
    ///
    /// - Parameter execution: tells apart tries of the same order, for the identity of faults.
    mutating func settle(_ order: SettlementOrder, _ replica: Int, _ execution: UInt64) -> Bool {
        guard reachesStore(replica) else { return false }
        emit(.compared(.ordered(order, replica: replica)))
        if does(.settlementForgotten) { return true }
        switch order.action {
        case .settle, .quarantine: return tell(order, replica)
        case .undo: return undo(order, replica, execution)
        case .tell: return true
        }
    }

    private mutating func tell(_ order: SettlementOrder, _ replica: Int) -> Bool {
        guard let ours = order.finding.ours, let place = places[ours.payment],
            sites[replicas[replica].site].store.rows[place] != nil
        else { return true }
        let difference = ComparedDifference(
            leg: ours.leg, run: order.run, finding: order.finding.finding, row: order.finding.row,
            action: order.action)
        deliver(replica, place, [.compared(difference)], [])
        return true
    }

    private mutating func undo(_ order: SettlementOrder, _ replica: Int, _ execution: UInt64) -> Bool {
        guard let transaction = UnbookedTransaction(order.finding, run: order.run) else { return true }
        let created = PaymentMachine.undoing(transaction, context(replica))
        let payment = created.machine.payment
        guard let place = places[payment.id] else { return true }
        let record = IdempotencyRecord(undoing: transaction, by: payment, at: clock(replica))
        let change = PaymentChange(
            payment: payment, entries: created.machine.newEntries,
            lease: .creating(holder: replicas[replica].holder, leaseFor: limits.lease), record: record)
        let word = Chance.word(transaction.key.text)
        switch attempt(change, by: replica, UInt64(place), word, execution | 1 << 62) {
        case .success(.committed(let version, let lease)):
            guard let lease else { return false }
            var machine = created.machine
            machine.committed(version: version)
            begin(replica, machine, lease, created.actions)
            return true
        case .success(.duplicate(let known)):
            deliver(replica, places[known.payment] ?? place, [.unbooked(transaction)], [])
            return true
        case .success(.versionConflict):
            deliver(replica, place, [.unbooked(transaction)], [])
            return true
        case .success(.leaseLost), .failure: return false
        }
    }
}
