/// The facts of a decision as the audit trail keeps them: `name=value`, separated by spaces. What has its usual value
/// is left out. The names are a format: trails that were written once are read by every later version.
///
/// A version that knows other facts reads a trail as well: what it does not know makes the text unreadable, so that
/// nobody believes to have replayed a decision that was not.
struct FactsFormat<Facts: Sendable>: Sendable {
    private let usual: Facts
    private let required: Set<String>
    private let recorded: [RecordedFact<Facts>]
    private let usualTexts: [String?]

    /// A format; `required` names what is written also where it has its usual value.
    init(usual: Facts, required: Set<String>, recorded: [RecordedFact<Facts>]) {
        self.usual = usual
        self.required = required
        self.recorded = recorded
        usualTexts = recorded.map { required.contains($0.name) ? nil : $0.read(usual) }
    }

    func text(of facts: Facts) -> String {
        zip(recorded, usualTexts).compactMap { fact, usual in
            let value = fact.read(facts)
            return value == usual ? nil : "\(fact.name)=\(value)"
        }.joined(separator: " ")
    }

    /// The facts of a text; `nil` where it is none of these.
    func facts(_ text: String) -> Facts? {
        var facts = usual
        var names: Set<String> = []
        for word in text.split(separator: " ") {
            let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, let fact = recorded.first(where: { $0.name == sides[0] }),
                fact.write(&facts, String(sides[1])), names.insert(fact.name).inserted
            else { return nil }
        }
        return names.isSuperset(of: required) ? facts : nil
    }
}

/// One fact, by its name in the trail.
struct RecordedFact<Facts>: Sendable {
    let name: String
    let read: @Sendable (Facts) -> String
    /// Sets it; `false` if the text is no value of it.
    let write: @Sendable (inout Facts, String) -> Bool

    static func flag(_ name: String, _ path: any WritableKeyPath<Facts, Bool> & Sendable) -> RecordedFact {
        RecordedFact(
            name: name, read: { $0[keyPath: path] ? "yes" : "no" },
            write: { facts, text in
                guard text == "yes" || text == "no" else { return false }
                facts[keyPath: path] = text == "yes"
                return true
            })
    }

    static func choice<Value: RawRepresentable & Sendable>(
        _ name: String, _ path: any WritableKeyPath<Facts, Value> & Sendable
    ) -> RecordedFact where Value.RawValue == String {
        RecordedFact(
            name: name, read: { $0[keyPath: path].rawValue },
            write: { facts, text in
                guard let value = Value(rawValue: text) else { return false }
                facts[keyPath: path] = value
                return true
            })
    }
}

extension EffectFacts {
    private static let format = FactsFormat(
        usual: EffectFacts(goal: .do, worst: .none, status: .notAsked), required: ["goal", "worst", "status"],
        recorded: [
            .choice("goal", \.goal),
            RecordedFact(
                name: "worst", read: { $0.worst.name },
                write: { facts, text in
                    guard let worst = WorstAttempt.allCases.first(where: { $0.name == text }) else { return false }
                    facts.worst = worst
                    return true
                }),
            .choice("status", \.status),
            RecordedFact(
                name: "purpose", read: { $0.purpose?.rawValue ?? "none" },
                write: { facts, text in
                    facts.purpose = EffectPurpose(rawValue: text)
                    return facts.purpose != nil || text == "none"
                }),
            .choice("trust", \.trust), .flag("awaits_caller", \.awaitsCaller), .choice("age", \.age),
            .choice("proof", \.proof), .choice("visibility", \.visibility), .choice("memory", \.memory),
            .flag("life_is_over", \.lifeIsOver), .flag("declines_stay", \.declinesStay),
            .flag("key_conflicts", \.keyConflicts), .flag("refusal_names_key", \.refusalNamesKey),
            .flag("was_accepted", \.wasAccepted), .flag("refused_for_good", \.refusedForGood),
            .flag("latch_acknowledged", \.latchAcknowledged), .flag("captured_by_others", \.capturedByOthers),
            .flag("one_phase", \.isOnePhase), .flag("declines_bound", \.declinesBound),
            .flag("tombstone_offered", \.tombstoneOffered), .flag("cancel_reverses_sale", \.cancelReversesSale),
            .flag("plug_allowed", \.plugAllowed), .flag("trace_wanted", \.traceWanted),
            .flag("last_refused", \.lastRefused), .flag("disputed", \.isDisputed),
            .flag("asked_by_resend", \.isAskedByResend), .flag("in_doubt", \.isInDoubt),
            .flag("unconfirmed", \.isUnconfirmed),
        ])

    /// As the audit trail keeps them.
    public var text: String { EffectFacts.format.text(of: self) }

    /// The facts that a trail kept; `nil` if the text is of another version, or of something else.
    public init?(text: String) {
        guard let facts = EffectFacts.format.facts(text) else { return nil }
        self = facts
    }
}

extension PaymentFacts {
    private static let format = FactsFormat(
        usual: PaymentFacts(latch: .none, legs: []), required: ["latch"],
        recorded: [
            .choice("latch", \.latch), .flag("latch_acknowledged", \.latchAcknowledged),
            .flag("stop_asked", \.stopAsked),
            .flag("hold_only", \.holdOnly), .flag("capture_requested", \.hasCaptureRequest),
            .flag("in_recovery", \.inRecovery), .flag("requests_may_be_lost", \.mayHaveLostRequests),
            RecordedFact(
                name: "legs", read: { $0.legs.map(\.text).joined(separator: ";") },
                write: { facts, text in
                    let legs = text.split(separator: ";").map { Leg(text: $0) }
                    facts.legs = legs.compactMap(\.self)
                    return facts.legs.count == legs.count
                }),
        ])

    /// As the audit trail keeps them.
    public var text: String { PaymentFacts.format.text(of: self) }

    /// The facts that a trail kept; `nil` if the text is of another version, or of something else.
    public init?(text: String) {
        guard let facts = PaymentFacts.format.facts(text) else { return nil }
        self = facts
    }
}

extension PaymentFacts.Leg {
    private static let recorded: [(name: String, path: any WritableKeyPath<PaymentFacts.Leg, Bool> & Sendable)] = [
        ("one_phase", \.isOnePhase), ("freshly_read", \.freshlyRead), ("asked", \.isAsked),
        ("captured_with_people", \.isCapturedWithPeople), ("denied", \.isDenied),
    ]

    /// Its standing, what going forward wants of it, and what else is so.
    fileprivate var text: String {
        let flags = PaymentFacts.Leg.recorded.filter { self[keyPath: $0.path] }.map(\.name)
        return ([standing.rawValue, forward.rawValue] + flags).joined(separator: "/")
    }

    fileprivate init?(text: Substring) {
        let words = text.split(separator: "/").map { String($0) }
        guard words.count >= 2, let standing = PaymentFacts.Standing(rawValue: words[0]),
            let forward = PaymentFacts.Forward(rawValue: words[1])
        else { return nil }
        self.init(
            isOnePhase: false, standing: standing, forward: forward, freshlyRead: false, isAsked: false)
        for word in words.dropFirst(2) {
            guard let flag = PaymentFacts.Leg.recorded.first(where: { $0.name == word }) else { return nil }
            self[keyPath: flag.path] = true
        }
    }
}

extension RepairFacts {
    private static let format = FactsFormat(
        usual: RepairFacts(action: .resume), required: ["action"],
        recorded: [
            .choice("action", \.action), .flag("refund", \.isRefund), .flag("waiting", \.isWaiting),
            .flag("unchanged", \.isUnchanged), .flag("expired", \.isExpired), .flag("decided", \.isDecided),
            .flag("own", \.isOwn), .choice("shown", \.shown), .flag("against_provider", \.isAgainstProvider),
            .flag("names_reference", \.namesReference), .flag("names_amount", \.namesAmount), .choice("age", \.age),
            .flag("unasked", \.isUnasked), .flag("discrepancy", \.isDiscrepancy), .flag("undoable", \.isUndoable),
            .flag("others", \.isOthers), .flag("provider_missing", \.isProviderMissing),
            .flag("may_be_under_way", \.mayBeUnderWay),
        ])

    /// As the audit trail keeps them.
    public var text: String { RepairFacts.format.text(of: self) }

    /// The facts that a trail kept; `nil` if the text is of another version, or of something else.
    public init?(text: String) {
        guard let facts = RepairFacts.format.facts(text) else { return nil }
        self = facts
    }
}
