public import PaymentCore
public import Reconciler

/// A witness in memory, for tests: ``WitnessModel`` behind an actor and a clock.
public actor MemoryWitness: SiteWitness {
    private var model = WitnessModel()
    private let clock: @Sendable () -> Timestamp
    private var isSilent = false

    /// A witness that nobody has asked yet.
    public init(clock: @escaping @Sendable () -> Timestamp) { self.clock = clock }

    /// Gives the witness an identity if it has none.
    public func found(skew: Span) async throws(StoreFailure) -> WitnessContent {
        try answer()
        let digits = UInt64.random(in: 0...UInt64.max)
        let hexadecimal = String(digits, radix: 16)
        let text = "wit_" + String(repeating: "0", count: 32 - hexadecimal.utf8.count) + hexadecimal
        if let identity = WitnessID(text: text) { model.found(as: identity) }
        return model.look(skew: skew, at: clock())
    }

    /// It loses all that it knows.
    public func wipe() { model = WitnessModel() }

    /// A copy of what it knows.
    public func copy() -> WitnessModel { model }

    /// It knows what a copy says, and nothing else.
    public func put(back copy: WitnessModel) { model = copy }

    /// From now on it answers nothing, or again.
    public func keepSilent(_ isSilent: Bool) { self.isSilent = isSilent }

    private func answer() throws(StoreFailure) {
        if isSilent { throw StoreFailure(.unavailable, operation: "witness", cause: "it does not answer") }
    }

    /// What is there.
    public func look(skew: Span) async throws(StoreFailure) -> WitnessContent {
        try answer()
        return model.look(skew: skew, at: clock())
    }

    /// Prolongs the right of a site in a term; takes it if nobody has it.
    public func renew(_ claim: WitnessClaim) async throws(StoreFailure) -> Bool {
        try answer()
        return try model.write(claim, at: clock())
    }

    /// Takes the right for a new term.
    public func take(_ claim: WitnessClaim, isFenced: Bool) async throws(StoreFailure) -> Bool {
        try answer()
        return try model.write(claim, isFenced: isFenced, at: clock())
    }

    /// Gives the right back.
    public func release(_ site: SiteName, epoch: Int64) async throws(StoreFailure) {
        try answer()
        model.release(site, epoch: epoch)
    }
}
