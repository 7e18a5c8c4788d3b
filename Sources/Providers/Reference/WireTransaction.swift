internal import PaymentCore

/// An amount as the provider counts it: in the minor unit of a currency, or in units of its own.
struct WireAmount: Encodable, Sendable, Hashable {
    /// The count, 0 or more.
    let value: Int64
    /// Three capital letters.
    let currency: String

    init(value: Int64, currency: String) {
        self.value = value
        self.currency = currency
    }

    /// Reads an amount.
    init(_ object: AnswerObject) throws(MalformedAnswer) {
        value = try object.wholeNumber("value")
        currency = try object.text("currency")
        guard value >= 0, Self.isCode(currency) else { throw MalformedAnswer() }
    }

    /// Whether a text is three capital letters.
    static func isCode(_ text: String) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy { (0x41...0x5A).contains($0) }
    }
}

/// A transaction as the reference contract shows it.
///
/// What money depends on is required and bounded; members that are not known are ignored. If anything here is
/// missing or odd, the whole answer does not parse.
struct WireTransaction: Sendable, Hashable {
    /// What was asked for.
    enum Kind: String, Sendable {
        case authorize
        case sale
    }

    /// The status.
    enum Status: String, Sendable, CaseIterable {
        case pending
        case authorized
        case captured
        case declined
        case voided
        case tombstoned
        case expired
    }

    /// A capture or refund.
    struct Movement: Sendable, Hashable {
        /// The status.
        enum Status: String, Sendable, CaseIterable {
            case pending
            case succeeded
            case declined
        }

        let key: String
        let amount: WireAmount
        let status: Status
        let reason: String?

        /// Reads a movement.
        init(_ object: AnswerObject) throws(MalformedAnswer) {
            key = try object.text("key")
            amount = try WireAmount(object.object("amount"))
            status = try object.word("status")
            reason = try object.optionalText("reason")
        }
    }

    /// A dispute of the charge.
    struct Dispute: Sendable, Hashable {
        /// The status.
        enum Status: String, Sendable, CaseIterable {
            case open
            case won
            case lost
        }

        let id: String
        let amount: WireAmount
        let status: Status

        /// Reads a dispute.
        init(_ object: AnswerObject) throws(MalformedAnswer) {
            id = try object.text("id")
            amount = try WireAmount(object.object("amount"))
            status = try object.word("status")
            guard (1...PaymentCore.Dispute.longestID).contains(id.utf8.count) else { throw MalformedAnswer() }
        }
    }

    let key: String
    /// `nil` only for a tombstone.
    let kind: Kind?
    let status: Status
    /// `nil` only for a tombstone.
    let amount: WireAmount?
    let captures: [Movement]
    let refunds: [Movement]
    /// None where the provider does not show them.
    let disputes: [Dispute]
    let authorizedUntil: Timestamp?
    /// When it was recorded first.
    let createdAt: Timestamp?
    let updatedAt: Timestamp?
    /// The store that we named in the metadata, if the provider still shows it, and if it has that form.
    let store: StoreID?
    /// The payment that we named in the metadata, if the provider still shows it.
    let payment: String?
    /// The leg that we named there; `nil` for anything but a whole number from 0.
    let leg: Int?
    let reason: String?
    /// That the payer has to act, and where. An address that no browser can be sent to is none.
    let payerAction: PayerAction?

    /// The name under which the metadata carries the store.
    static let storeName = "reconciled_store"

    /// Whether a capture is not decided yet.
    var hasPendingCapture: Bool { captures.contains { $0.status == .pending } }

    /// Reads a transaction.
    init(_ object: AnswerObject) throws(MalformedAnswer) {
        key = try object.text("key")
        status = try object.word("status")
        kind = try object.optionalWord("kind")
        amount = if let amount = try object.optionalObject("amount") { try WireAmount(amount) } else { nil }
        captures = try object.list("captures", of: Movement.init)
        refunds = try object.list("refunds", of: Movement.init)
        disputes = try object.optionalList("disputes", of: Dispute.init)
        reason = try object.optionalText("reason")
        let action = try object.optionalObject("action")
        payerAction = try action.map { action throws(MalformedAnswer) in
            PayerAction(url: try action.optionalText("url").flatMap { WebAddress($0) })
        }
        authorizedUntil = try Self.instant("authorized_until", in: object)
        createdAt = try Self.instant("created_at", in: object)
        updatedAt = try Self.instant("updated_at", in: object)
        let metadata = try object.optionalObject("metadata")
        store = try metadata?.optionalText(Self.storeName).flatMap { StoreID(text: $0) }
        payment = try metadata?.optionalText("payment")
        leg = try metadata?.optionalText("leg").flatMap { Int($0) }.flatMap { $0 < 0 ? nil : $0 }
        guard Self.isKey(key), status == .tombstoned || (kind != nil && amount != nil),
            Self.areDistinct(captures), Self.areDistinct(refunds), disputes.count <= 1_000,
            Set(disputes.map(\.id)).count == disputes.count
        else { throw MalformedAnswer() }
    }

    private static func instant(_ name: String, in object: AnswerObject) throws(MalformedAnswer) -> Timestamp? {
        guard let text = try object.optionalText(name) else { return nil }
        guard let instant = Timestamp(rfc3339: text) else { throw MalformedAnswer() }
        return instant
    }

    /// Keys are judged loosely here: whether one is ours is decided by comparison. None holds U+0000, which no
    /// database keeps in a text: ``AnswerObject`` reads no such body.
    private static func isKey(_ text: String) -> Bool { (1...128).contains(text.utf8.count) }

    /// Two movements under one key could not both be true.
    private static func areDistinct(_ movements: [Movement]) -> Bool {
        guard movements.count <= 1_000, movements.allSatisfy({ isKey($0.key) }) else { return false }
        return movements.count < 2 || Set(movements.map(\.key)).count == movements.count
    }
}
