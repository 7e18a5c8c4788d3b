internal import MemoryStore
internal import PaymentCore

/// Notes which situations a run met.
public struct Probes: Sendable {
    private var met: [Bool] = Array(repeating: false, count: Situation.allCases.count)
    var memory = ProbeMemory()

    /// Nothing met yet.
    public init() {}

    /// The situations that were met, in the order of their declaration.
    public var hit: [Situation] { Situation.allCases.filter { met[Probes.index($0)] } }
    /// The situations that were not.
    public var missed: [Situation] { Situation.allCases.filter { !met[Probes.index($0)] } }

    private static let indices: [Situation: Int] = Dictionary(
        zip(Situation.allCases, Situation.allCases.indices), uniquingKeysWith: { first, _ in first })

    private static func index(_ situation: Situation) -> Int { indices[situation] ?? 0 }

    mutating func note(_ situation: Situation, _ holds: @autoclosure () -> Bool) {
        let index = Probes.index(situation)
        if !met[index], holds() { met[index] = true }
    }

    /// Looks at one happening. The evidence is that of the moment after it.
    public mutating func observe(_ happening: Happening, _ evidence: Evidence) {
        let at = happening.at
        switch happening.what {
        case .committed(let commit): committed(commit, at, evidence)
        case .sent(_, _, let order): sent(order, at)
        case .arrived(let order, let outcome, let code): arrived(order, outcome, code, at, evidence)
        case .learned(_, _, .inquired(let leg, let observation), let payment):
            read(observation, leg: leg, of: payment, evidence)
        case .leased(_, let replica, let payment, _): memory.holders[payment] = replica
        case .refused(let replica, let payment, _):
            let holder = memory.holders[payment]
            note(.staleWriterRefused, holder != nil && holder != replica)
        case .alerted(let alert): note(.stillInDoubt, alert.message.contains("end of the inquiry schedule"))
        case .promoted(let site, _, let lost): promoted(site, lost)
        case .asked(let operation, _):
            guard memory.rowsWereLost, case .create = operation.kind else { return }
            let wasThere = memory.created.contains(operation.payment)
            note(.acceptedAfterLoss, wasThere && evidence.rows.payment(operation.payment) == nil)
        case .answered(let operation, let answer): answered(operation, answer)
        case .compared(.ordered(let order, _)) where order.action == .undo:
            note(.undoingOrdered, evidence.rows.comparisons.discrepancies[order.discrepancy]?.undoOrder != nil)
        case .inquiring, .learned, .compared, .fault, .started, .stopping, .stopped, .faultsEnded: break
        }
    }

    private mutating func promoted(_ site: Int, _ lost: Int) {
        let wasActive = memory.activeSites.contains(site)
        note(.failedBack, wasActive)
        memory.activeSites.append(site)
        memory.rowsWereLost = memory.rowsWereLost || lost > 0
        memory.holders.removeAll(keepingCapacity: true)
    }

    private mutating func answered(_ operation: CallerOperation, _ answer: CallerAnswer) {
        switch answer {
        case .refused: note(.tooLate, true)
        case .keyReused: note(.keyReused, true)
        case .settled:
            let isFirst = memory.settled.insert(operation).inserted
            note(.answerReplayed, !isFirst)
        case .accepted, .unavailable: break
        }
    }
}

/// What the probes remember of a run.
struct ProbeMemory: Sendable {
    /// One attempt.
    struct Attempt: Hashable {
        let key: EffectKey
        let number: Int
    }

    /// When attempts left.
    var sentAt: [Attempt: Timestamp] = [:]
    /// The latest attempt under a key that arrived.
    var newestArrival: [EffectKey: Int] = [:]
    /// Keys that were declined.
    var declined: Set<EffectKey> = []
    /// When a key was last not found.
    var notFoundAt: [EffectKey: Timestamp] = [:]
    /// Who claimed a payment last.
    var holders: [PaymentID: Int] = [:]
    /// Who wrote a payment last.
    var writers: [PaymentID: Int] = [:]
    /// Payments that were ever written.
    var created: Set<PaymentID> = []
    /// Operations that were settled.
    var settled: Set<CallerOperation> = []
    /// The sites that were active, in order.
    var activeSites: [Int] = [0]
    /// Whether a failover lost rows.
    var rowsWereLost = false
}
