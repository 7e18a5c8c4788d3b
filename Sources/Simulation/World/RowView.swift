internal import MemoryStore
internal import PaymentCore

/// The rows of a store at one moment, for judges.
struct RowView: StoredRows {
    let rows: [StoreModel.Row?]
    let places: [PaymentID: Int]
    let comparisons: StoredComparisons

    init(_ store: StoreModel, _ places: [PaymentID: Int]) {
        rows = store.rows
        self.places = places
        comparisons = store.comparisons
    }

    func payment(_ id: PaymentID) -> Payment? { places[id].flatMap { rows[$0]?.payment } }
    func everyPayment() -> [Payment] { rows.compactMap { $0?.payment } }
    func trail(of payment: PaymentID) -> [AuditEntry] { places[payment].flatMap { rows[$0]?.trail } ?? [] }
}
