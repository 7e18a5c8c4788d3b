package import PaymentCore
package import Reconciler

/// A repair as a row of `repairs`.
///
/// The column `payment_id` has the identifier of the discrepancy where it is about one: programs of the version before
/// write and read the table as it is.
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
    /// The identifier.
    package let id: String
    /// What a decision changes: the state, who decided, and the document.
    package let decision: [ColumnValue]
    /// Whether somebody decided about it: the row is there already, and waits.
    package let isDecided: Bool

    /// The row of a repair.
    package init(_ repair: Repair) throws(StoreFailure) {
        id = repair.id
        isDecided = repair.decision != nil
        let state = repair.decision.map { $0.isApproved ? Repair.State.approved : .rejected } ?? .proposed
        let (decider, document) = (repair.decision?.by, try StoredDocument.encode(repair))
        values = [
            .text(id), .text(repair.subject), .text(state.rawValue), .text(repair.proposedBy), .text(decider),
            .int(repair.proposedAt.milliseconds), .text(document),
        ]
        decision = [.text(state.rawValue), .text(decider), .text(document)]
    }
}
