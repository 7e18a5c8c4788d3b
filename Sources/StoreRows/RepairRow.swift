package import PaymentCore
package import Reconciler

/// A repair as a row of `repairs`.
package struct RepairRow: WrittenRow {
    /// The table.
    package static let table = "repairs"
    /// The columns by which a row is found.
    package static let key = ["id"]
    /// All columns, in the order of ``values``.
    package static let columns: [Column] = [
        Column("id", .text), Column("payment_id", .text), Column("state", .text), Column("proposed_by", .text),
        Column("decided_by", .text), Column("proposed_at", .int), Column("document", .text),
    ]
    /// The values, one for each column.
    package let values: [ColumnValue]
    /// What a decision changes: state, who decided, and the document.
    package var decision: [ColumnValue] { [values[2], values[4], values[6]] }
    /// Whether somebody decided about it: the row is there already, and waits.
    package let isDecided: Bool

    /// The row of a repair.
    package init(_ repair: Repair) throws(StoreFailure) {
        isDecided = repair.decision != nil
        let state = repair.decision.map { $0.isApproved ? Repair.State.approved : .rejected } ?? .proposed
        values = [
            .text(repair.id), .text(repair.payment.text), .text(state.rawValue), .text(repair.proposedBy),
            .text(repair.decision?.by), .int(repair.proposedAt.milliseconds),
            .text(try StoredDocument.encode(repair)),
        ]
    }
}
