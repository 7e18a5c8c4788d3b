extension LedgerReport {
    /// For a person: one line per key with every movement, then the sums and counters.
    public var text: String {
        var lines = ["provider \(provider)"]
        for transaction in transactions { lines.append("  " + transaction.text) }
        for total in totals {
            lines.append(
                "  total \(total.currency): charged \(total.charged), refunded \(total.refunded), "
                    + "net \(total.net), held \(total.held)")
        }
        lines.append(
            "  charged twice: " + (chargedTwice.isEmpty ? "none" : chargedTwice.joined(separator: " ")))
        lines.append("  requests: " + Self.list(requests))
        lines.append("  faults: " + Self.list(faults))
        if !planted.isEmpty {
            let counts = Dictionary(planted.map { ($0.plant.rawValue, 1) }, uniquingKeysWith: +)
            lines.append("  planted: " + Self.list(counts))
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func list(_ counts: [String: Int]) -> String {
        guard !counts.isEmpty else { return "none" }
        return counts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
    }
}

extension LogicalTransaction {
    /// Such as `KEY captured: hold 1200, charge 1000, release 200; net 1000 JPY`.
    var text: String {
        let movements = (holds + charges + refunds + voids + releases)
            .sorted { ($0.incarnation, $0.at) < ($1.incarnation, $1.at) }
            .map { "\($0.kind.rawValue) \($0.amount.value)" }
        let moved = movements.isEmpty ? "nothing moved" : movements.joined(separator: ", ")
        let sum = currency.map { "; net \(net) \($0)" } ?? ""
        let warning = isChargedTwice ? "  CHARGED TWICE" : ""
        return "\(key) \(status?.rawValue ?? "forgotten"): \(moved)\(sum)\(warning)"
    }
}
