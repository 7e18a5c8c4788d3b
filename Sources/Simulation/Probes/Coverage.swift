internal import PaymentCore

/// What a number of seeds never came to: situations that are looked for, and rows of the two tables that never decided.
/// A search that never meets one of them proves nothing about it.
public struct Coverage: Sendable {
    /// What no seed can come to, with the reason.
    public struct Exception: Sendable, Hashable {
        /// The situation's words, or the row's name.
        public let name: String
        /// Why it cannot come about.
        public let reason: String
    }

    /// What cannot come about in a run; coming to it all the same is no fault.
    public static let exceptions: [Exception] = [
        Exception(
            name: Situation.landedAfterTheEnd.rawValue,
            reason: "a payment fails only once nothing can be executed under its keys; planted bugs meet it"),
        Exception(
            name: Situation.keyUsedAnew.rawValue,
            reason: "nothing is sent once its key may be forgotten; planted bugs meet it"),
        Exception(
            name: "undo.cancel-latch-unacknowledged",
            reason: "a sale on an asynchronous store needs the risk accepted in words; the exhaustive search meets it"),
        Exception(
            name: "none.recovery-await-capture",
            reason: "a capture leaves once its request is kept, so that only a restore loses it; the search meets it"),
        Exception(
            name: "do.done", reason: "what is held or taken is not asked for any more; so that the table has no hole"),
        Exception(
            name: "do.key-conflict", reason: "no provider of the seeds binds a key to another body; tests meet it"),
        Exception(
            name: "own.key-conflict", reason: "no provider of the seeds binds a key to another body; tests meet it"),
        Exception(
            name: "own.declined", reason: "every decline of the seeds carries its transaction; the search meets it"),
        Exception(
            name: "own.refund-declined-may-change",
            reason: "at every provider of the seeds a decline stays once no request can arrive; tests meet it"),
        Exception(
            name: "own.disputed",
            reason: "a refund is disputed after it was asked to slow down: few seeds; tests meet it"),
        Exception(
            name: "own.recovery-ask-first",
            reason: "on untrusted rows every leg is read before it is captured; so that the table has no hole"),
        Exception(
            name: "own.resend-disputed",
            reason: "no provider of the seeds that cannot be asked tells of a dispute; the table is tested whole"),
        Exception(
            name: "do.resend-await-caller",
            reason: "where acknowledged rows may be lost, a provider that cannot be asked is refused; tests meet it"),
        Exception(
            name: "none.captured-outside", reason: "nobody captures at a console in the seeds; the search meets it"),
        Exception(
            name: "none.recovery-quarantined",
            reason: "a latch is lost while people decide about another leg: too rare; the table is tested whole"),
        Exception(
            name: "none.recovery-missing",
            reason: "a provider loses a charge whose row is lost as well: seed 1299504878, and few others"),
        Exception(
            name: "own.refund-forgotten",
            reason: "a refund is refused after a doubt where statuses are forgotten: seed 1175660629, and few others"),
        Exception(
            name: "undo.resend-await-listing",
            reason: "turned back in doubt, then rows are lost: none of 11,000 seeds; the table is tested whole"),
        Exception(
            name: "do.unconfirmed",
            reason: "an authorization is received, never told of, and not turned back: few seeds; tests meet it"),
        Exception(
            name: "none.complete-read-first",
            reason: "held and taken is only what was freshly read; the row is there so that the table has no hole"),
    ]

    /// Watches the tables of the runs that are to be counted.
    private let watch = RowWatch()
    private var situations: Set<Situation> = []
    /// Runs that were counted.
    public private(set) var runs = 0

    /// Nothing was met yet.
    public init() {}

    /// The same plant, with its tables watched; a run with it goes as it would without.
    public func watching(_ plant: Plant) -> Plant {
        var watched = plant
        watched.effectTable = watch.watching(plant.effectTable)
        watched.paymentTable = watch.watching(plant.paymentTable)
        return watched
    }

    /// Counts what a run with the watched tables met.
    public mutating func add(_ result: RunResult) {
        runs += 1
        situations.formUnion(result.probesHit)
    }

    /// Runs a plan as it ships, and counts what it met.
    public mutating func run(_ plan: RunPlan) -> RunResult {
        let result = World.run(plan, plant: watching(.none))
        add(result)
        return result
    }

    /// Situations that no run met, in the order of their declaration.
    public var missedSituations: [Situation] {
        Situation.allCases.filter { !situations.contains($0) && !Coverage.isException($0.rawValue) }
    }

    /// Rows that never decided, those of the effect table first.
    public var missedRows: [String] { watch.missed.filter { !Coverage.isException($0) } }

    /// Whether everything that can come about did.
    public var isComplete: Bool { missedSituations.isEmpty && missedRows.isEmpty }

    private static func isException(_ name: String) -> Bool { exceptions.contains { $0.name == name } }
}
