internal import PaymentCore

/// All invariants of the protocol, judging one run.
public struct Judges: Sendable {
    private var invariants: [any Invariant]

    /// All of them, in the order of their numbers.
    public init() {
        invariants = [
            MoneyMatchesBooks(), OneLiveCharge(), AcknowledgedIsReadable(), OneFinalAnswer(),
            KeysDoNotCollide(),
            FinalStatesStay(), UndoneMeansNothing(), SucceededMeansAsked(), IntentBeforeSend(),
            KeyIsDerived(),
            OldWritersRefused(), LatchesOnlyForward(), TrailUnbroken(), NoSecrets(), ComesToRest(),
            DrainsFinish(), WindowsAdjoin(), OneRunAtATime(), MoneyIsProven(), DifferencesAreFound(),
            NothingIsInvented(), OnlyStrangersAreUndone(), OneQuestionAtATime(), AsksAfterLoss(),
            RepairsTakeTwo(), NothingBesideDisputes(), BegunInTime(),
        ]
    }

    /// Every invariant's number and sentence.
    public static let sentences: [(number: Int, sentence: String)] = Judges().invariants.map {
        (type(of: $0).number, type(of: $0).sentence)
    }

    /// Judges one happening. The evidence is that of the moment after it.
    public mutating func observe(_ happening: Happening, _ evidence: Evidence) {
        let at = happening.at
        // What most happen to be is unpacked once, for all.
        switch happening.what {
        case .committed(let commit):
            for index in invariants.indices { invariants[index].committed(commit, at: at, evidence) }
        case .sent(let replica, let token, let order):
            for index in invariants.indices {
                invariants[index].sent(order, replica: replica, at: at, evidence)
                invariants[index].began(order.leg, of: order.payment, replica: replica, token: token, at: at)
            }
        case .arrived(let order, let outcome, _):
            for index in invariants.indices { invariants[index].arrived(order, outcome, at: at, evidence) }
        case .leased(let site, _, let payment, let token):
            for index in invariants.indices {
                invariants[index].leased(site: site, payment: payment, token: token, at: at)
            }
        case .fault(let kind, _, _):
            for index in invariants.indices { invariants[index].fault(kind, at: at) }
        case .compared(let news):
            for index in invariants.indices { invariants[index].compared(news, at: at, evidence) }
        default:
            for index in invariants.indices { invariants[index].observe(happening, evidence) }
        }
    }

    /// Judges the end: nothing is due, and nothing is on the wire.
    public mutating func atRest(_ evidence: Evidence) {
        for index in invariants.indices { invariants[index].atRest(evidence) }
    }

    /// What was violated, in the order of the invariants.
    public var violations: [Violation] { invariants.flatMap(\.findings.violations) }
    /// Whether anything was.
    public var isClean: Bool { invariants.allSatisfy { $0.findings.count == 0 } }
}
