/// What a person may do about a payment that waits.
public enum Remedy: String, Sendable, Hashable, CaseIterable {
    /// Have the undecided statuses read now, whatever the schedule says: `reconciled payments reconcile`.
    case reconcile
    /// Decide about what is in quarantine: the runbook says how the evidence is found.
    case decide
    /// Have both sides compared over the time in which rows were lost: `reconciled reconcile`.
    case compare
    /// Bring the standby back that has to confirm.
    case bringStandbyBack = "bring_standby_back"
    /// Ask the caller to repeat its request, with the same key.
    case askCaller = "ask_caller"
    /// Answer the payer's dispute at the provider.
    case answerDispute = "answer_dispute"
    /// Configure the provider.
    case configureProvider = "configure_provider"
    /// Configure the provider with the key space in which the payment was begun.
    case configureKeySpace = "configure_key_space"
    /// Where the provider or its region is lost for good: find out what it did, and propose what became of it.
    case decideLost = "decide_lost"

    /// The same in words.
    public var sentence: String {
        switch self {
        case .reconcile: "Have its undecided statuses read now: reconciled payments reconcile."
        case .decide:
            "Find out what the provider did (runbook: quarantine), and propose what is to become of it: reconciled "
                + "repairs propose."
        case .compare: "Have both sides compared over the time in which rows were lost: reconciled reconcile."
        case .bringStandbyBack: "Bring the standby back that has to confirm."
        case .askCaller: "Ask its caller to repeat the request, with the same key."
        case .answerDispute: "Answer the payer's dispute at the provider: only there is it decided."
        case .configureProvider: "Put the provider back into the configuration."
        case .configureKeySpace:
            "Configure the provider's url of the region in which the payment was begun; or, if both share keys, "
                + "providers[].key_space (runbook: other-key-space)."
        case .decideLost:
            "If the provider or its region is lost for good: find out what it did, and propose what became of it: "
                + "reconciled repairs propose (runbook: other-key-space)."
        }
    }
}

extension PaymentExplanation {
    /// What a person may do, without repetition and in the order of ``Remedy``.
    public var remedies: [Remedy] {
        let found = Set((legs + refunds).flatMap { Remedy.all(for: $0.wait) })
        let standby: Set<Remedy> = waitsForStandby ? [.bringStandbyBack] : []
        let dispute: Set<Remedy> = payment.legs.contains { !$0.openDisputes.isEmpty } ? [.answerDispute] : []
        return Remedy.allCases.filter { found.union(standby).union(dispute).contains($0) }
    }

    private var waitsForStandby: Bool {
        decision?.verdict.decision == .wait && !payment.latchAcknowledged
    }
}

extension Remedy {
    fileprivate static func all(for wait: LegExplanation.Wait) -> [Remedy] {
        switch wait {
        case .nothing, .answer, .payment: []
        case .step, .moment: [.reconcile]
        case .event(.awaitListing): [.compare]
        case .event(.awaitCaller): [.askCaller]
        case .event: [.bringStandbyBack]
        case .people: [.decide]
        case .configuration(.notConfigured): [.configureProvider, .decideLost]
        case .configuration(.otherKeySpace): [.configureKeySpace, .decideLost]
        }
    }
}
