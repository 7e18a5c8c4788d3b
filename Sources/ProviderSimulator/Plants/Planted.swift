/// A difference that was planted: the truth about it, for whoever checks what a comparison found.
public struct Planted: Codable, Sendable, Equatable {
    /// What a transaction showed before or shows after.
    public struct State: Codable, Sendable, Equatable {
        /// The status.
        public let status: TransactionStatus
        /// What was asked for.
        public let amount: Amount?
        /// What was taken, in the currency's minor unit; 0 unless the status is `captured`.
        public let captured: Int64
        /// What of it was given back.
        public let refunded: Int64
        /// When it changed last, milliseconds since 1970 by the provider's clock.
        public let updatedAt: Int64

        init(_ record: TransactionRecord) {
            status = record.status
            amount = record.amount
            captured = record.capturedValue
            refunded = record.status == .captured ? record.refundedValue : 0
            updatedAt = record.updatedAt
        }

        private enum CodingKeys: String, CodingKey {
            case status, amount, captured, refunded
            case updatedAt = "updated_at"
        }
    }

    /// What differs.
    public let plant: PlantKind
    /// The transaction that differs, or that was made.
    public let key: String
    /// The transaction of which it is a duplicate.
    public var original: String?
    /// The payment that its metadata names.
    public var payment: String?
    /// The leg that its metadata names.
    public var leg: String?
    /// The capture or refund that was added, changed or taken away.
    public var entryKey: String?
    /// What was there; nil where nothing was.
    public var before: State?
    /// What is there; nil where nothing is.
    public var after: State?
    /// From when on it is listed, milliseconds since 1970 by the provider's clock; nil unless it is hidden for a time.
    public var listedFrom: Int64?

    init(_ plant: PlantKind, before: TransactionRecord?, after: TransactionRecord?, key: String) {
        self.plant = plant
        self.key = key
        self.before = before.map(State.init)
        self.after = after.map(State.init)
        let metadata = (after ?? before)?.metadata
        payment = metadata?["payment"]
        leg = metadata?["leg"]
    }

    private enum CodingKeys: String, CodingKey {
        case plant, key, original, payment, leg, before, after
        case entryKey = "entry_key"
        case listedFrom = "listed_from"
    }
}
