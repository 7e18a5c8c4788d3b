internal import MemoryStore
internal import PaymentCore

/// The rows of a store at one moment, for judges.
struct RowView: StoredRows {
    let rows: [StoreModel.Row?]
    let paymentIndices: [PaymentID: Int]
    let comparisons: StoredComparisons
    let repairs: [String: Repair]

    init(_ store: StoreModel, _ paymentIndices: [PaymentID: Int]) {
        rows = store.rows
        self.paymentIndices = paymentIndices
        comparisons = store.comparisons
        repairs = store.repairs
    }

    func payment(_ id: PaymentID) -> Payment? { paymentIndices[id].flatMap { rows[$0]?.payment } }
    func repair(_ id: String) -> Repair? { repairs[id] }
    func everyPayment() -> [Payment] { rows.compactMap { $0?.payment } }
    func trail(of payment: PaymentID) -> [AuditEntry] { paymentIndices[payment].flatMap { rows[$0]?.trail } ?? [] }
}
