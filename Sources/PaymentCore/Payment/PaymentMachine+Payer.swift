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

    /// Notes when a payer was first asked for something.
    mutating func notePayerAction(_ observation: Observation, _ context: MachineContext) {
        if observation.awaitsPayer, payment.actionAskedAt == nil { payment.actionAskedAt = context.now }
    }

    /// That a payer has to act, for the trail. Not where: the address may hold a secret.
    func payerFields(_ observation: Observation) -> [AuditField] {
        observation.awaitsPayer ? [AuditField("awaits", "payer")] : []
    }
}
