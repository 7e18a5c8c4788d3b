public import PaymentCore
internal import Synchronization

/// Notes which rows of the two tables decided. Most rows that wait or ask leave nothing in the audit trail,
/// so the tables themselves are watched.
///
/// It only ever adds, and what it notes decides nothing: a run is the same with it and without it.
public final class RowWatch: Sendable {
    private let effectRows: Atomic<UInt64> = Atomic(0)
    private let paymentRows: Atomic<UInt64> = Atomic(0)

    /// No row has decided yet.
    public init() {}

    /// The rows of table B, by their names. The names of its table stand in its code only.
    public static let paymentRowNames: [String] = [
        "none.recovery-await-capture", "none.recovery-proof-forward", "none.recovery-proof-back", "none.stop",
        "none.stop-read-first",
        "none.authorize", "none.quarantined", "none.sell", "none.rest", "none.complete",
        "none.complete-read-first",
        "forward.request-unacknowledged", "forward.lost-read-first", "forward.capture-lost", "forward.read-first",
        "forward.capture",
        "forward.quarantined", "forward.complete", "back.read-first", "back.undo", "back.quarantined",
        "back.unacknowledged", "back.complete", "compensate.read-first", "compensate.undo",
        "compensate.quarantined",
        "compensate.unacknowledged", "compensate.complete",
    ]

    /// The rows of table A, by their names.
    public static let effectRowNames: [String] = TableA.shipped.rows.map(\.name)

    /// The rows of both.
    public static let rowNames = effectRowNames + paymentRowNames

    /// The same table, watched. It decides as before.
    public func watching(_ table: TableA) -> TableA {
        TableA(
            rows: table.rows.map { row in
                let alone = TableA(rows: [row])
                let place = RowWatch.effectRowNames.firstIndex(of: row.name)
                return TableA.Row(row.name, when: { row.applies(to: $0) }) { [self] facts in
                    if let place { effectRows.bitwiseOr(1 << UInt64(place), ordering: .relaxed) }
                    return alone.decide(facts).decision
                }
            })
    }

    /// The same table, watched. It decides as before.
    public func watching(_ table: TableB) -> TableB {
        TableB { [self] facts in
            let verdict = table.decide(facts)
            if let place = RowWatch.paymentRowNames.firstIndex(of: verdict.row) {
                paymentRows.bitwiseOr(1 << UInt64(place), ordering: .relaxed)
            }
            return verdict
        }
    }

    /// The rows that decided, those of table A first, each in the order of its table.
    public var hit: [String] { names(having: 1) }
    /// The rows that never did.
    public var missed: [String] { names(having: 0) }

    private func names(having bit: UInt64) -> [String] {
        let effects = effectRows.load(ordering: .relaxed)
        let payments = paymentRows.load(ordering: .relaxed)
        let fromA = RowWatch.effectRowNames.enumerated().filter { effects >> UInt64($0.offset) & 1 == bit }
        let fromB = RowWatch.paymentRowNames.enumerated().filter { payments >> UInt64($0.offset) & 1 == bit }
        return (fromA + fromB).map(\.element)
    }
}
