internal import PaymentCore

// The shipped tables, changed in one place: what is planted in seeds and in the search is made of these.

extension EffectTable {
    /// The shipped table under one more row, which decides first.
    static func withRow(_ row: Row) -> EffectTable { EffectTable(rows: [row] + EffectTable.shipped.rows) }

    /// The shipped table under a row that decides wherever `decide` has a decision.
    static func withRow(_ decide: @escaping @Sendable (EffectFacts) -> EffectDecision?) -> EffectTable {
        withRow(Row("planted", when: { decide($0) != nil }, then: { decide($0) ?? .keep }))
    }

    /// The shipped table over facts that are seen wrongly.
    static func seeing(_ distort: @escaping @Sendable (inout EffectFacts) -> Void) -> EffectTable {
        let row = Row(
            "planted", when: { _ in true },
            then: { facts in
                var facts = facts
                distort(&facts)
                return EffectTable.shipped.decide(facts).decision
            })
        return EffectTable(rows: [row])
    }
}

extension RepairTable {
    /// The shipped table without a row.
    func without(_ name: String) -> RepairTable { RepairTable(rows: rows.filter { $0.name != name }) }
}

extension ComparisonTable {
    /// The shipped table under a row that decides first.
    static func withRow(
        _ finds: ComparisonClass, when matches: @escaping @Sendable (ComparisonFacts) -> Bool
    ) -> ComparisonTable {
        ComparisonTable(rows: [Row("planted", finds, when: matches)] + ComparisonTable.shipped.rows)
    }

    /// The shipped table over facts that are seen wrongly.
    static func seeing(_ distort: @escaping @Sendable (inout ComparisonFacts) -> Void) -> ComparisonTable {
        ComparisonTable(
            rows: ComparisonTable.shipped.rows.map { row in
                Row(
                    row.name, row.finds,
                    when: { facts in
                        var facts = facts
                        distort(&facts)
                        return row.applies(to: facts)
                    })
            })
    }
}

extension PaymentTable {
    /// The shipped table under a row of that name that decides wherever `decide` has a decision.
    static func withRow(
        _ name: String = "planted", _ decide: @escaping @Sendable (PaymentFacts) -> PaymentDecision?
    ) -> PaymentTable {
        PaymentTable(
            rows: [Row(name, when: { decide($0) != nil }, then: { decide($0) ?? .wait })] + PaymentTable.shipped.rows)
    }

    /// The shipped table over facts that are seen wrongly.
    static func seeing(_ distort: @escaping @Sendable (inout PaymentFacts) -> Void) -> PaymentTable {
        @Sendable func distorted(_ facts: PaymentFacts) -> PaymentFacts {
            var facts = facts
            distort(&facts)
            return facts
        }
        return PaymentTable(
            rows: PaymentTable.shipped.rows.map { row in
                Row(
                    row.name, when: { row.applies(to: distorted($0)) }, then: { row.decides(distorted($0)) })
            })
    }
}
