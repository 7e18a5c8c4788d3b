/// What became of a recorded decision under another contract of its provider.
public enum TriedDecision: Sendable, Hashable {
    /// The same row decides.
    case same(row: String)
    /// Another row decides, because these facts differ.
    case other(recorded: String, now: String, facts: String)
    /// The contract changes these facts, and what they were at that moment cannot be worked out from the trail.
    case unknown(row: String, facts: String)
}

/// The decisions on the effects of one payment, made again as if the contract of a provider were another one.
///
/// Every recorded decision has its facts. Those that follow from the contract are worked out twice from what the trail
/// tells of requests and reads: by the contract as it is, and by the changed one. Where both agree the recorded fact
/// stays. Where they differ the changed one takes its place, but only if the contract as it is gives what was recorded:
/// else the trail does not tell enough, or the decision was made under an earlier contract.
///
/// What was sent stays sent, as it was sent. So this says which decisions differ first, not what would have followed.
/// The direction of a payment follows from the decisions on its effects, and is not made again.
public struct ContractTrial: Sendable {
    private let payment: Payment
    private let provider: ProviderName
    private let present: ProviderContract
    private let changed: ProviderContract
    private let policy: SettlementPolicy
    private let table: EffectTable
    private var legs: [Int: LegCourse] = [:]

    /// A trial of one payment. The entries of its trail are given in order, from the first.
    public init(
        of payment: Payment, at provider: ProviderName, present: ProviderContract, changed: ProviderContract,
        policy: SettlementPolicy, table: EffectTable = .shipped
    ) {
        self.payment = payment
        self.provider = provider
        self.present = present
        self.changed = changed
        self.policy = policy
        self.table = table
    }

    /// Takes in the next entry; what became of its decisions on effects at the provider: of the one that led to it, and
    /// of its own.
    public mutating func take(_ entry: AuditEntry) -> [TriedDecision] {
        guard let index = entry.leg, payment.legs.indices.contains(index), payment.legs[index].provider == provider
        else { return [] }
        let course = legs[index] ?? LegCourse(since: payment.createdAt)
        let decisions = [(AuditField.because, AuditField.becauseFacts), ("row", AuditField.facts)].compactMap {
            decision(entry, row: $0, facts: $1, course)
        }
        legs[index] = course.after(entry)
        return decisions
    }

    private func decision(
        _ entry: AuditEntry, row: String, facts: String, _ course: LegCourse
    ) -> TriedDecision? {
        guard let row = entry.value(row), let text = entry.value(facts), let recorded = EffectFacts(text: text)
        else { return nil }
        let reading = CourseReading(entry: entry, course: course, facts: recorded, sentUnder: present, policy: policy)
        var facts = recorded
        var differing: [String] = []
        var unknown: [String] = []
        for fact in CourseReading.facts {
            let (before, after) = (fact.text(reading, present), fact.text(reading, changed))
            guard before != after else { continue }
            guard fact.recorded(recorded) == before else {
                unknown.append(fact.name)
                continue
            }
            fact.set(&facts, reading, changed)
            differing.append("\(fact.name) \(before) becomes \(after)")
        }
        guard unknown.isEmpty else { return .unknown(row: row, facts: unknown.joined(separator: ", ")) }
        let now = table.decide(facts).row
        guard now != row, now != table.decide(recorded).row else { return .same(row: row) }
        return .other(recorded: row, now: now, facts: differing.joined(separator: ", "))
    }
}

/// What the trail tells of one leg up to an entry.
private struct LegCourse {
    /// One effect's requests.
    struct Requests {
        var kind: String
        var first: Timestamp
        var last: Timestamp
        var acceptedAt: Timestamp?
    }

    /// A status that was read, or came with an answer, since the last request.
    struct Reading {
        var status: Observation.Status
        var began: Timestamp
        var isInquiry: Bool
    }

    let since: Timestamp
    var requests: [String: Requests] = [:]
    var readings: [Reading] = []

    init(since: Timestamp) { self.since = since }

    /// The newest reading that counts: one that failed takes nothing away.
    var known: Reading? { readings.last { $0.status != .unavailable } ?? readings.last }

    /// From when on reads show everything, but for the margin of the contract.
    var latest: Timestamp {
        requests.values.reduce(since) { max($0, $1.last, $1.acceptedAt ?? $1.last) }
    }

    func after(_ entry: AuditEntry) -> LegCourse {
        var course = self
        let effect = entry.value("effect") ?? ""
        switch entry.type {
        case .intent:
            let first = requests[effect]?.first ?? entry.at
            course.requests[effect] = Requests(
                kind: entry.value("kind") ?? "", first: first, last: entry.at,
                acceptedAt: requests[effect]?.acceptedAt)
            course.readings = []
        case .outcome:
            if entry.value("outcome") == OutcomeClass.accepted.name { course.requests[effect]?.acceptedAt = entry.at }
            if let status = entry.value("status").flatMap(Observation.Status.init) {
                course.readings.append(Reading(status: status, began: entry.at, isInquiry: false))
            }
        case .inquiry:
            guard let status = entry.value("status").flatMap(Observation.Status.init),
                let began = entry.value("began").flatMap({ Timestamp(rfc3339: $0) })
            else { break }
            course.readings.append(Reading(status: status, began: began, isInquiry: true))
        default: break
        }
        return course
    }
}

/// The facts of one decision that follow from a contract, as the trail lets them be worked out.
private struct CourseReading {
    /// A fact by its name in the trail.
    struct Fact: Sendable {
        let name: String
        let recorded: @Sendable (EffectFacts) -> String
        let text: @Sendable (CourseReading, ProviderContract) -> String
        let set: @Sendable (inout EffectFacts, CourseReading, ProviderContract) -> Void

        static func of<Value: RawRepresentable & Sendable>(
            _ name: String, _ path: any WritableKeyPath<EffectFacts, Value> & Sendable,
            _ value: @escaping @Sendable (CourseReading, ProviderContract) -> Value
        ) -> Fact where Value.RawValue == String {
            Fact(
                name: name, recorded: { $0[keyPath: path].rawValue }, text: { value($0, $1).rawValue },
                set: { $0[keyPath: path] = value($1, $2) })
        }

        static func flag(
            _ name: String, _ path: any WritableKeyPath<EffectFacts, Bool> & Sendable,
            _ value: @escaping @Sendable (CourseReading, ProviderContract) -> Bool
        ) -> Fact {
            Fact(
                name: name, recorded: { $0[keyPath: path] ? "yes" : "no" },
                text: { value($0, $1) ? "yes" : "no" }, set: { $0[keyPath: path] = value($1, $2) })
        }
    }

    static let facts: [Fact] = [
        .of("status", \.status) { $0.status($1) }, .of("age", \.age) { $0.age($1) },
        .of("memory", \.memory) { $0.memory($1) },
        .of("proof", \.proof) { $0.proof($1) }, .of("visibility", \.visibility) { $0.visibility($1) },
        .flag("life_is_over", \.lifeIsOver) { $0.isLifeOver($1) },
        .flag("declines_stay", \.declinesStay) { $1.declinesStay },
        .flag("declines_bound", \.declinesBound) { $1.declinesBound },
        .flag("tombstone_offered", \.tombstoneOffered) { $1.cancel == .tombstoning },
        .flag("cancel_reverses_sale", \.cancelReversesSale) { $1.cancelReversesSale },
        .flag("asked_by_resend", \.isAskedByResend) { $1.inquiry == .byResend },
        .flag("trace_wanted", \.traceWanted) { $0.policy.tombstoneNeverSent && $1.cancel == .tombstoning },
    ]

    let at: Timestamp
    let course: LegCourse
    let requests: LegCourse.Requests?
    let recorded: EffectFacts
    /// What was sent, was sent under this one.
    let sentUnder: ProviderContract
    let policy: SettlementPolicy

    init(
        entry: AuditEntry, course: LegCourse, facts: EffectFacts, sentUnder: ProviderContract, policy: SettlementPolicy
    ) {
        at = entry.at
        self.course = course
        recorded = facts
        self.sentUnder = sentUnder
        self.policy = policy
        // An effect without a purpose of its own is the authorization or the sale.
        let effect = facts.purpose == nil ? EffectReference.primary.description : entry.value("effect")
        requests = effect.flatMap { course.requests[$0] }
    }

    private var inRecovery: Bool { recorded.trust != .trusted }

    private func status(_ contract: ProviderContract) -> StatusFact {
        guard [.declinedBound, .declinedUnbound].contains(recorded.status) else { return recorded.status }
        return contract.declinesBound ? .declinedBound : .declinedUnbound
    }

    private func age(_ contract: ProviderContract) -> EffectFacts.ResendAge {
        guard requests?.kind != EffectKind.void.rawValue, let limit = contract.safeResendAge else { return .safe }
        guard let first = requests?.first else { return inRecovery ? .past : .safe }
        return at - first < limit ? .safe : .past
    }

    private func memory(_ contract: ProviderContract) -> EffectFacts.Memory {
        guard let limit = contract.memory else { return .whole }
        if let first = requests?.first { return at - first < limit ? .whole : .mayBeLost }
        return recorded.trust == .recovering ? .mayBeLost : .whole
    }

    private func isLifeOver(_ contract: ProviderContract) -> Bool {
        let ends = requests.map { $0.last + contract.maxRequestLife } ?? course.since
        guard let known = course.known, known.began > ends + contract.proofMargin else { return false }
        guard let retention = contract.statusRetention else { return true }
        guard let first = requests?.first else { return false }
        return known.began < first + (retention - contract.clockSkew)
    }

    private func proof(_ contract: ProviderContract) -> EffectFacts.Proof {
        guard contract.enforcesNotAfter, recorded.purpose == nil else { return .none }
        guard let requests else { return .proven }
        // Its requests named no moment: whatever a contract says now, nobody refuses them for it.
        guard sentUnder.enforcesNotAfter else { return .none }
        if let retention = contract.statusRetention {
            let readableUntil = requests.first + (retention - contract.clockSkew)
            guard (course.known?.began ?? at) < readableUntil else { return .none }
        }
        guard let known = course.known else { return .notYet }
        return known.began > requests.last + sentUnder.maxRequestLife + contract.proofMargin ? .proven : .notYet
    }

    private func visibility(_ contract: ProviderContract) -> EffectFacts.Visibility {
        guard contract.inquiry != .byResend else { return .missedTwice }
        let shownFrom = course.latest + contract.proofMargin + .milliseconds(1)
        var reads = 0
        for reading in course.readings where reading.status != .unavailable {
            if reading.status == .pending { reads = 0 }
            if reading.status != .pending, reading.isInquiry, reading.began >= shownFrom { reads += 1 }
        }
        return [.lagging, .readOnce, .missedTwice][min(reads, 2)]
    }
}
