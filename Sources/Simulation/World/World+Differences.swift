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
        lastSettlement -= 1
        let incarnation = replicas[replica].incarnation
        // What its engine asks of the store for this order is carried out at once, one thing after the other.
        var inputs: [EngineInput] = [.settle(ticket: lastSettlement, order)]
        while !inputs.isEmpty, carriesOn(replica, incarnation) {
            for job in jobs(replica, inputs.removeFirst()) {
                if let input = carryOutNow(job, replica, execution) {
                    inputs.append(input)
                } else {
                    execute(job, replica)
                }
            }
        }
        if case .told = replicas[replica].settlements.removeValue(forKey: lastSettlement) { return true }
        return false
    }

    private mutating func carryOutNow(_ job: EngineJob, _ replica: Int, _ execution: UInt64) -> EngineInput? {
        let (work, id): (Job.Work, PaymentID?)
        switch job {
        case .insert(let ticket, let change, _):
            let (paymentIndex, word) = (
                UInt64(paymentIndices[change.payment.id] ?? 0), Chance.word(change.payment.key.text)
            )
            return .inserted(ticket: ticket, attempt(change, by: replica, paymentIndex, word, execution | 1 << 62))
        case .claim(let claimed, _, _): (work, id) = (.claim, claimed)
        case .lookUp(let ticket, let caller, let key): (work, id) = (.lookUp(ticket, caller, key), nil)
        case .readOccupant(let ticket, let occupied): (work, id) = (.occupant(ticket), occupied)
        case .readToWrite(let number, let read): (work, id) = (.readToWrite(number), read)
        case .write(let number, let change): (work, id) = (.write(change, number), change.payment.id)
        default: return nil
        }
        return asked(
            Job(
                replica: replica, incarnation: replicas[replica].incarnation,
                payment: id.flatMap { paymentIndices[$0] } ?? 0,
                token: LeaseToken(0), work: work))
    }
}
