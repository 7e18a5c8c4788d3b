// A step that the payer has to take at a provider before anything is held or taken: the tables wait for it as for
// whatever is undecided, until the deadline or a cancel ends it.

extension PaymentMachine {
    /// The longest time between two looks at what a payer does.
    static let longestPayerDelay = Span.seconds(30)

    /// How long until a leg's status is read again. Payers act within minutes, so the schedule for what is in doubt
    /// would look too late.
    func inquiryDelay(_ leg: Leg, _ context: MachineContext) -> Span {
        let delay = context.policy.inquirySchedule.delay(leg.inquiries, jitter: context.jitter)
        return leg.knowledge?.awaitsPayer == true ? min(delay, PaymentMachine.longestPayerDelay) : delay
    }

    /// Whether a cancel of what waits for its payer may land on a completed sale, and is then a refund: not before the
    /// latch is acknowledged (as `undo.cancel-latch-unacknowledged`).
    func mayReverse(_ known: Observation?, _ leg: Leg, _ contract: ProviderContract) -> Bool {
        known?.awaitsPayer == true && leg.isOnePhase && contract.cancelReversesSale && !payment.latchAcknowledged
    }

    /// Counts one more inquiry. What was asked while a payer took time leaves the schedule as it was: what comes after
    /// the payer's step is asked about soon.
    mutating func countInquiry(leg index: Int) {
        let awaited = payment.legs[index].knowledge?.awaitsPayer == true
        payment.legs[index].inquiries =
            awaited ? min(payment.legs[index].inquiries + 1, 3) : payment.legs[index].inquiries + 1
    }

    /// Notes when a payer was first asked for something.
    mutating func notePayerAction(_ observation: Observation, _ context: MachineContext) {
        if observation.awaitsPayer, payment.actionAskedAt == nil { payment.actionAskedAt = context.now }
    }

    /// That a payer has to act, for the trail. Not where: the address may hold a secret.
    func payerFields(_ observation: Observation) -> [AuditField] {
        observation.awaitsPayer ? [AuditField("awaits", "payer")] : []
    }
}
