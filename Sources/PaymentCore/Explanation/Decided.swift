/// A decision by a row of a table, or by a rule that has no table, with the facts that it was made from.
struct Decided {
    private enum Facts {
        case none
        case payment(PaymentFacts)
        case effect(EffectFacts)
        case repair(RepairFacts)
    }

    /// The name of the row.
    let row: String
    private let facts: Facts

    /// A rule that has no table.
    init(_ row: String) {
        self.row = row
        facts = .none
    }

    init(_ verdict: PaymentTable.Verdict, _ facts: PaymentFacts) {
        row = verdict.row
        self.facts = .payment(facts)
    }

    init(_ verdict: EffectTable.Verdict, _ facts: EffectFacts) {
        row = verdict.row
        self.facts = .effect(facts)
    }

    init(_ verdict: RepairTable.Verdict, _ facts: RepairFacts) {
        row = verdict.row
        self.facts = .repair(facts)
    }

    /// What an entry says of it that holds another decision, which it led to.
    var fieldsOfCause: [AuditField] {
        fields.map { AuditField($0.name == "row" ? AuditField.because : AuditField.becauseFacts, $0.value) }
    }

    /// What an entry of the trail says of it. Most decisions are made again with each event and never recorded, so the
    /// text is made here.
    var fields: [AuditField] {
        let named = [AuditField("row", row)]
        switch facts {
        case .none: return named
        case .payment(let facts): return named + [AuditField(AuditField.facts, facts.text)]
        case .effect(let facts): return named + [AuditField(AuditField.facts, facts.text)]
        case .repair(let facts): return named + [AuditField(AuditField.facts, facts.text)]
        }
    }
}

extension AuditField {
    /// The name of the field that holds the facts of a decision.
    public static let facts = "facts"
    /// The name of the field that holds the row of the decision that led to another one: what undoes a leg is sent
    /// under a key of its own, because of a decision on the leg.
    public static let because = "because"
    /// The name of the field that holds the facts of that decision.
    public static let becauseFacts = "because_facts"
}

/// What became of a recorded decision that the tables were asked about again.
public enum ReplayedDecision: Sendable, Hashable {
    /// The same row decides.
    case same(row: String)
    /// Another row decides: the tables are of another version.
    case other(recorded: String, now: String)
    /// The facts were written by a version that knows others.
    case unreadable(row: String)

    /// Asks the tables again about the decision of an entry; `nil` where the entry holds none, or where no table made
    /// it.
    public init?(
        _ entry: AuditEntry, effectTable: EffectTable = .shipped, paymentTable: PaymentTable = .shipped,
        repairTable: RepairTable = .shipped
    ) {
        self.init(
            entry, row: "row", facts: AuditField.facts, effectTable: effectTable, paymentTable: paymentTable,
            repairTable: repairTable)
    }

    /// The decisions of an entry: its own, and the one that led to it.
    public static func all(of entry: AuditEntry) -> [ReplayedDecision] {
        [("row", AuditField.facts), (AuditField.because, AuditField.becauseFacts)].compactMap { row, facts in
            ReplayedDecision(
                entry, row: row, facts: facts, effectTable: .shipped, paymentTable: .shipped, repairTable: .shipped)
        }
    }

    private init?(
        _ entry: AuditEntry, row: String, facts: String, effectTable: EffectTable, paymentTable: PaymentTable,
        repairTable: RepairTable
    ) {
        guard let row = entry.value(row), let facts = entry.value(facts) else { return nil }
        let now: String
        if let facts = EffectFacts(text: facts) {
            now = effectTable.decide(facts).row
        } else if let facts = PaymentFacts(text: facts) {
            now = paymentTable.decide(facts).row
        } else if let facts = RepairFacts(text: facts) {
            now = repairTable.decide(facts).row
        } else {
            self = .unreadable(row: row)
            return
        }
        self = now == row ? .same(row: row) : .other(recorded: row, now: now)
    }
}
