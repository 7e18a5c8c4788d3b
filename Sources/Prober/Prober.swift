public import PaymentCore
public import Reconciler

/// Measures what a provider really does, instead of believing its documentation.
///
/// It sends requests of its own through the provider's adapter, reads what became of each, and undoes what it did.
/// Nothing that it sends is sent again while it may have arrived: a probe must not do what it looks for.
public struct Prober: Sendable {
    /// What a probe came to.
    public struct Report: Sendable, Hashable {
        /// What was seen, in the order of ``ContractProperty``.
        public let findings: [ProbeFinding]
        /// What was seen besides, of which no contract says anything: a sentence each.
        public let notes: [String]
        /// Answers of which the adapter's table says that nothing was executed, although something was: a sentence
        /// each. The table is wrong, and a payment can be called failed that was charged.
        public let breaches: [String]
        /// What could not be undone, or of which that is not known.
        public let leftBehind: [Remainder]
        /// Why it did not come to its end; `nil` if it did.
        public let failure: ProbeFailure?
        /// Requests that were sent, reads included.
        public let requests: Int
        /// Transactions of the probe's own.
        public let transactions: Int
    }

    /// A transaction that may still hold money.
    public struct Remainder: Sendable, Hashable {
        /// The key under which the provider knows it.
        public let key: EffectKey
        /// Why it is left behind.
        public let reason: String
    }

    private let bench: ProbeBench

    /// A probe of one provider.
    ///
    /// - Parameters:
    ///   - provider: behind its adapter, with a rate limit of its own above ``ProbeSettings/highestRate``.
    ///   - clock: the time.
    ///   - settings: what it may do.
    ///   - clockReading: how far the provider's clock is from ours, as its answers have shown it so far.
    /// - Throws: ``ProbeFailure/run`` if no key can be made of the run's name.
    public init(
        provider: any PaymentProvider, clock: any WallClock, settings: ProbeSettings,
        clockReading: @escaping @Sendable () -> ProviderClocks.Reading?
    ) throws(ProbeFailure) {
        bench = try ProbeBench(provider: provider, clock: clock, settings: settings, reading: clockReading)
    }

    /// Looks at everything that the settings name, and then undoes what it did, whatever happened before.
    ///
    /// - Parameter tell: hears what is done next.
    public func run(tell: @Sendable (String) -> Void = { _ in }) async -> Report {
        var sights = ProbeSights()
        var failure: ProbeFailure?
        do throws(ProbeFailure) {
            try await look(&sights, tell)
        } catch {
            failure = error
        }
        tell("giving back what is out")
        let remainders = await bench.giveBack()
        let contract = bench.provider.contract
        return Report(
            findings: ContractProperty.all(of: contract).map { property in
                sights.findings[property] ?? .unmeasured(property, in: contract)
            },
            notes: sights.notes + (await bench.wordsOfErrors), breaches: await bench.breaches, leftBehind: remainders,
            failure: failure, requests: await bench.requests,
            transactions: await bench.transactions)
    }

    /// Undoes what a run of this name may have left behind, without looking at anything.
    public func undo() async throws(ProbeFailure) -> [Remainder] {
        var left: [Remainder] = []
        for name in ProbeNames.all(rounds: bench.settings.rounds) {
            let transaction = try bench.transaction(name)
            if let reason = await UndoneProbe(bench: bench).undo(transaction) {
                left.append(Remainder(key: transaction.key, reason: reason))
            }
        }
        return left
    }

    private func look(_ sights: inout ProbeSights, _ tell: (String) -> Void) async throws(ProbeFailure) {
        var keys = ProbedKeys(bench: bench)
        let cancels = ProbedCancels(bench: bench)
        for part in ProbePart.allCases where bench.settings.parts.contains(part) {
            tell(part.isAbout)
            switch part {
            case .reads: try await ProbedReads(bench: bench).look(&sights)
            case .keys: try await keys.look(&sights)
            case .cancels: try await cancels.look(&sights)
            case .notAfter: try await ProbedNotAfter(bench: bench).look(&sights)
            case .refunds: try await ProbedRefunds(bench: bench).look(&sights)
            case .declines: try await ProbedDeclines(bench: bench).look(&sights)
            case .rate: try await ProbedRate(bench: bench).look(&sights)
            case .errors: try await ProbedErrors(bench: bench).look(&sights)
            case .clock: ProbedClock(reading: bench.reading()).look(&sights)
            }
            // Nothing stays out longer than it must: the provider may forget its key.
            _ = await bench.giveBack()
        }
        guard bench.settings.wait > .zero else { return }
        tell("waiting \(bench.settings.wait.milliseconds / 1_000) s, and then once more the keys")
        try await bench.sleep(bench.settings.wait)
        if bench.settings.parts.contains(.keys) { try await keys.lookAgain(&sights) }
        if bench.settings.parts.contains(.cancels) { try await cancels.lookAgain(&sights) }
    }
}

/// What was seen so far.
struct ProbeSights: Sendable {
    var findings: [ContractProperty: ProbeFinding] = [:]
    var notes: [String] = []

    /// Takes a finding in, beside what was seen of the same property before.
    mutating func add(_ property: ContractProperty, _ sight: ProbeSight, _ evidence: String...) {
        let known = findings[property]
        findings[property] = ProbeFinding(property, sight, (known?.evidence ?? []) + evidence)
    }
}

/// The names of all transactions that a run may begin.
enum ProbeNames {
    static let keys = "keys"
    static let otherBody = "other-body"
    static let status = "status"
    static let absent = "absent"
    static let keptAbsent = "kept-absent"
    static let present = "present"
    static let onTime = "on-time"
    static let refunds = "refunds"
    static let declined = "declined"
    static let errors = "errors"
    static let unknown = "unknown"
    static func read(_ round: Int) -> String { "read-\(round)" }
    static func late(_ round: Int) -> String { "late-\(round)" }

    static func all(rounds: Int) -> [String] {
        let numbers = 1...max(1, rounds)
        return numbers.map(read) + numbers.map(late) + [
            keys, otherBody, absent, keptAbsent, present, onTime, refunds, declined, errors, unknown,
        ]
    }
}

extension ProbePart {
    /// What it looks at, for whoever watches.
    var isAbout: String {
        switch self {
        case .reads: "what inquiries and the listing show, and how late"
        case .keys: "the same key again"
        case .cancels: "cancels of what is there, and of what is not"
        case .notAfter: "a request whose time is over"
        case .refunds: "refunds"
        case .declines: "declines"
        case .rate: "how many requests are answered in a second"
        case .errors: "what errors leave behind"
        case .clock: "the provider's clock"
        }
    }
}

extension ProbeFinding {
    /// Of a property at which nobody looked.
    static func unmeasured(_ property: ContractProperty, in contract: ProviderContract) -> ProbeFinding {
        let reason =
            switch property {
            case .cancelDeadline: "it lies further off than a probe waits"
            case .maxRequestLife: "no probe can see how long a network may hold a request back"
            case .keyFormat: "nothing was shown under a key"
            case .requestsPerSecond where contract.endpointRequestsPerSecond != nil:
                "inquiries go to one endpoint, and are held against its own rate"
            case .cancelReversesSale where contract.phases != .sale: "the provider holds first"
            case .authorizationLife where contract.phases == .sale: "the provider holds nothing"
            default: "it was not looked at"
            }
        return ProbeFinding(property, .nothing(reason), [])
    }
}
