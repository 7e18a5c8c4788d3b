internal import PaymentCore

/// The whole range of contracts: every combination of what a contract can say that a decision depends on.
enum ContractRange {
    /// A combination, and what the configuration says of it.
    struct Entry {
        let name: String
        let contract: ProviderContract
        let plugAllowed: Bool
        /// The names of the traps with which the daemon refuses to start; empty if it starts.
        let traps: [String]

        /// Whether a verdict rests on the longest life of requests: that a key may be sent again, or that a decline
        /// which may change is the end of it, because the provider offers neither a tombstone nor `not_after`.
        var restsOnRequestLife: Bool {
            if contract.keyRetention != nil { return true }
            return !contract.declinesBound && contract.cancel != .tombstoning && !contract.enforcesNotAfter
        }
    }

    /// Every combination.
    static let all: [Entry] = ProviderContract.Phases.allCases.flatMap { phases in
        ProviderContract.Cancel.allCases.flatMap { cancel in
            bools.flatMap { enforced in
                bools.flatMap { bound in
                    [nil, Span.hours(24)].flatMap { retention in
                        [Span.zero, .seconds(60)].flatMap { lag in
                            reversals(phases, cancel).flatMap { reverses in
                                plugChoices(cancel, enforced).map { plug in
                                    entry(phases, cancel, enforced, bound, retention, lag, reverses, plug)
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static let bools = [false, true]

    /// Sending a key again to undo it is only ever thought of where the provider offers nothing better.
    private static func plugChoices(_ cancel: ProviderContract.Cancel, _ enforced: Bool) -> [Bool] {
        cancel == .tombstoning || enforced ? [false] : bools
    }

    private static func reversals(_ phases: ProviderContract.Phases, _ cancel: ProviderContract.Cancel) -> [Bool] {
        phases == .sale && cancel != .none ? bools : [false]
    }

    private static func entry(
        _ phases: ProviderContract.Phases, _ cancel: ProviderContract.Cancel, _ enforced: Bool, _ bound: Bool,
        _ retention: Span?, _ lag: Span, _ reverses: Bool, _ plug: Bool
    ) -> Entry {
        var contract = ProviderContract(phases: phases)
        contract.cancel = cancel
        contract.enforcesNotAfter = enforced
        contract.declinesBound = bound
        contract.keyRetention = retention
        contract.visibilityLag = lag
        contract.cancelReversesSale = reverses
        contract.clockSkew = .zero
        var words = [phases == .sale ? "sale" : "two-phase", "cancel \(cancel.rawValue)"]
        if enforced { words.append("not_after") }
        if !bound { words.append("declines unbound") }
        if retention != nil { words.append("keys 24 h") }
        if lag > .zero { words.append("lag 60 s") }
        if reverses { words.append("cancel reverses") }
        if plug { words.append("plug") }
        let traps = contract.traps(under: SafetyAssumptions(plugAllowed: plug)).map(\.name.rawValue)
        return Entry(name: words.joined(separator: ", "), contract: contract, plugAllowed: plug, traps: traps)
    }
}

extension Scenario {
    /// One leg of every contract of the range that the configuration lets through.
    public static let range: [Scenario] = ContractRange.all.filter(\.traps.isEmpty).map { entry in
        var scenario = Scenario("one leg: \(entry.name)", [(entry.name, entry.contract)])
        scenario.plugAllowed = entry.plugAllowed
        scenario.answers = [.transaction, .unsent]
        scenario.readsMayFail = true
        scenario.readsTakeTime = entry.contract.enforcesNotAfter
        if entry.restsOnRequestLife { scenario.requestLife = .bounded }
        // What is not found and too old to be sent again, and what is declined over and over, is for people.
        scenario.quarantineExpected =
            entry.contract.keyRetention != nil || entry.plugAllowed && !entry.contract.declinesBound
        return scenario
    }

    /// Every contract of the range that the configuration refuses, with the traps' names.
    public static let refused: [(contract: String, traps: [String])] = ContractRange.all.filter { !$0.traps.isEmpty }
        .map { ($0.name, $0.traps) }
}
