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
            NothingIsInvented(), OnlyStrangersAreUndone(), OneQuestionAtATime(),
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
            for place in invariants.indices { invariants[place].committed(commit, at: at, evidence) }
        case .sent(let replica, let token, let order):
            for place in invariants.indices {
                invariants[place].sent(order, replica: replica, at: at, evidence)
                invariants[place].began(order.leg, of: order.payment, replica: replica, token: token, at: at)
            }
        case .arrived(let order, let outcome, _):
            for place in invariants.indices { invariants[place].arrived(order, outcome, at: at, evidence) }
        case .leased(let site, _, let payment, let token):
            for place in invariants.indices {
                invariants[place].leased(site: site, payment: payment, token: token, at: at)
            }
        case .fault(let kind, _, _):
            for place in invariants.indices { invariants[place].fault(kind, at: at) }
        case .compared(let news):
            for place in invariants.indices { invariants[place].compared(news, at: at, evidence) }
        default:
            for place in invariants.indices { invariants[place].observe(happening, evidence) }
        }
    }

    /// Judges the end: nothing is due, and nothing is on the wire.
    public mutating func atRest(_ evidence: Evidence) {
        for place in invariants.indices { invariants[place].atRest(evidence) }
    }

    /// What was violated, in the order of the invariants.
    public var violations: [Violation] { invariants.flatMap(\.findings.violations) }
    /// Whether anything was.
    public var isClean: Bool { invariants.allSatisfy { $0.findings.count == 0 } }
}
