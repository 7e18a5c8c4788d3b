public import PaymentCore
internal import Synchronization

/// Notes which rows of the tables decided. Most rows that wait or ask leave nothing in the audit trail,
/// so the tables themselves are watched.
///
/// It only ever adds, and what it notes decides nothing: a run is the same with it and without it.
public final class RowWatch: Sendable {
    // One bit for each row, in the order of its table.
    private let firstEffectRows: Atomic<UInt64> = Atomic(0)
    private let otherEffectRows: Atomic<UInt64> = Atomic(0)
    private let paymentRows: Atomic<UInt64> = Atomic(0)

    /// No row has decided yet.
    public init() {}

    /// The rows of the payment table, by their names.
    public static let paymentRowNames: [String] = PaymentTable.shipped.rows.map(\.name)

    /// The rows of tables A and C, by their names.
    public static let effectRowNames: [String] = EffectTable.shipped.rows.map(\.name)

    /// The rows of all.
    public static let rowNames = effectRowNames + paymentRowNames

    /// The same table, watched. It decides as before.
    public func watching(_ table: EffectTable) -> EffectTable {
        EffectTable(
            rows: table.rows.map { row in
                let alone = EffectTable(rows: [row])
                let index = RowWatch.effectRowNames.firstIndex(of: row.name)
                return EffectTable.Row(row.name, when: { row.applies(to: $0) }) { [self] facts in
                    if let index { note(effectRow: index) }
                    return alone.decide(facts).decision
                }
            })
    }

    private func note(effectRow index: Int) {
        let bit: UInt64 = 1 << UInt64(index & 63)
        if index < 64 {
            firstEffectRows.bitwiseOr(bit, ordering: .relaxed)
        } else {
            otherEffectRows.bitwiseOr(bit, ordering: .relaxed)
        }
    }

    /// The same table, watched. It decides as before.
    public func watching(_ table: PaymentTable) -> PaymentTable {
        PaymentTable(
            rows: table.rows.map { row in
                let index = RowWatch.paymentRowNames.firstIndex(of: row.name)
                return PaymentTable.Row(row.name, when: { row.applies(to: $0) }) { [self] facts in
                    if let index { paymentRows.bitwiseOr(1 << UInt64(index), ordering: .relaxed) }
                    return row.decides(facts)
                }
            })
    }

    /// The rows that decided, those of tables A and C first, each in the order of its table.
    public var hit: [String] { names(having: 1) }
    /// The rows that never did.
    public var missed: [String] { names(having: 0) }

    private func names(having bit: UInt64) -> [String] {
        let effects = [firstEffectRows.load(ordering: .relaxed), otherEffectRows.load(ordering: .relaxed)]
        let payments = paymentRows.load(ordering: .relaxed)
        let ofEffects = RowWatch.effectRowNames.enumerated()
            .filter { effects[$0.offset >> 6] >> UInt64($0.offset & 63) & 1 == bit }
        let ofPayments = RowWatch.paymentRowNames.enumerated().filter { payments >> UInt64($0.offset) & 1 == bit }
        return (ofEffects + ofPayments).map(\.element)
    }
}
