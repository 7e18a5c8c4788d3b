internal import MemoryStore
internal import PaymentCore

/// The rows of a store at one moment, for judges.
struct RowView: StoredRows {
    let rows: [StoreModel.Row?]
    let paymentIndices: [PaymentID: Int]
    let comparisons: StoredComparisons

    init(_ store: StoreModel, _ paymentIndices: [PaymentID: Int]) {
        rows = store.rows
        self.paymentIndices = paymentIndices
        comparisons = store.comparisons
    }

    func payment(_ id: PaymentID) -> Payment? { paymentIndices[id].flatMap { rows[$0]?.payment } }
    func everyPayment() -> [Payment] { rows.compactMap { $0?.payment } }
    func trail(of payment: PaymentID) -> [AuditEntry] { paymentIndices[payment].flatMap { rows[$0]?.trail } ?? [] }
}
