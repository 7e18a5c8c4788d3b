public import PaymentCore

/// How the engine works.
public struct EngineSettings: Sendable {
    /// The operator's decisions about settling.
    public var policy: SettlementPolicy
    /// Unique for each start of each process: the holder of its leases.
    public var holder: String
    /// The sweep's bounds.
    public var sweep: Sweep.Limits
    /// Whether it looks for what is due and seals the audit trails. A process that only answers callers works on their
    /// payments as long as they are under way, and leaves what waits to those that do.
    public var sweeps: Bool
    /// At most so many payments in work, sweep and callers together; beyond it new ones are refused with 503.
    public var maximumActive: Int
    /// How often the heads of the audit trails are sealed.
    public var sealEvery: Span
    /// Whether a commit survives the loss of the machine that made it.
    public var commitsAreAcknowledged: Bool
    /// The standby that must have a latch before it counts, where a commit is no acknowledgement; `nil` for all that
    /// follow.
    public var standby: String?
    /// How long a latch waits for the standby at most; `nil` for as long as it takes.
    public var acknowledgeUnconfirmedAfter: Span?
    /// Rows were lost: new payments begin in this window, and unfinished ones enter it when they are taken up. `nil`
    /// normally. That of the site's newest term takes its place (``SettlementEngine/enter(_:recovery:)``).
    public var recovery: RecoveryWindow?
    /// Whether this process may act for its site; asked last before anything leaves.
    public var gate: SiteGate
    /// What is measured of the providers' clocks; `nil` where nobody measures.
    public var providerClocks: ProviderClockWatch?
    /// The objective: a payment that took longer to end is counted as late.
    public var settleWithin: Span
    /// Renders the answer to the request that created a payment, once the payment has ended. It is then kept in the
    /// transaction that ends the payment, and not in one of its own. `nil` leaves it to whoever answers.
    public var endAnswer: @Sendable (Payment) -> StoredAnswer?

    /// Settings with documented defaults.
    public init(holder: String) {
        policy = SettlementPolicy()
        self.holder = holder
        sweep = Sweep.Limits()
        sweeps = true
        maximumActive = 4_096
        sealEvery = .seconds(10)
        commitsAreAcknowledged = true
        standby = nil
        acknowledgeUnconfirmedAfter = nil
        recovery = nil
        gate = .alwaysOpen()
        providerClocks = nil
        settleWithin = .minutes(5)
        endAnswer = { _ in nil }
    }
}

extension EngineSettings {
    /// What the engine's machine needs of them.
    func machine(_ contracts: [ProviderName: ProviderContract]) -> EngineMachine.Settings {
        var machine = EngineMachine.Settings(holder: holder, policy: policy, contracts: contracts)
        machine.sweep = sweep
        machine.sweeps = sweeps
        machine.maximumActive = maximumActive
        machine.commitsAreAcknowledged = commitsAreAcknowledged
        machine.acknowledgeUnconfirmedAfter = acknowledgeUnconfirmedAfter
        machine.endAnswer = endAnswer
        return machine
    }
}
