internal import PaymentCore

/// An amount as the provider counts it: in the minor unit of a currency, or in units of its own.
struct WireAmount: Codable, Sendable, Hashable {
    /// The count, 0 or more.
    let value: Int64
    /// Three capital letters.
    let currency: String

    private enum CodingKeys: String, CodingKey { case value, currency }

    init(value: Int64, currency: String) {
        self.value = value
        self.currency = currency
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        value = try container.decode(Int64.self, forKey: .value)
        currency = try container.decode(String.self, forKey: .currency)
        guard value >= 0, Self.isCode(currency) else {
            throw DecodingError.dataCorruptedError(
                forKey: .value, in: container, debugDescription: "not an amount")
        }
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
struct WireTransaction: Decodable, Sendable, Hashable {
    /// What was asked for.
    enum Kind: String, Decodable, Sendable {
        case authorize
        case sale
    }

    /// The status.
    enum Status: String, Decodable, Sendable, CaseIterable {
        case pending
        case authorized
        case captured
        case declined
        case voided
        case tombstoned
        case expired
    }

    /// A capture or refund.
    struct Movement: Decodable, Sendable, Hashable {
        /// The status.
        enum Status: String, Decodable, Sendable, CaseIterable {
            case pending
            case succeeded
            case declined
        }

        let key: String
        let amount: WireAmount
        let status: Status
        let reason: String?
    }

    let key: String
    /// `nil` only for a tombstone.
    let kind: Kind?
    let status: Status
    /// `nil` only for a tombstone.
    let amount: WireAmount?
    let captures: [Movement]
    let refunds: [Movement]
    let authorizedUntil: Timestamp?
    let updatedAt: Timestamp?
    /// The payment that we named in the metadata, if the provider still shows it.
    let payment: String?
    /// The leg that we named there; `nil` for anything but a whole number from 0.
    let leg: Int?
    let reason: String?

    /// Whether a capture is not decided yet.
    var hasPendingCapture: Bool { captures.contains { $0.status == .pending } }

    private enum CodingKeys: String, CodingKey {
        case key, kind, status, amount, captures, refunds, metadata, reason
        case authorizedUntil = "authorized_until"
        case updatedAt = "updated_at"
    }
    private enum MetadataKeys: String, CodingKey { case payment, leg }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        func odd(_ key: CodingKeys) -> DecodingError {
            DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: "out of bounds")
        }
        func instant(_ key: CodingKeys) throws -> Timestamp? {
            guard let text = try container.decodeIfPresent(String.self, forKey: key) else { return nil }
            guard let instant = Timestamp(rfc3339: text) else { throw odd(key) }
            return instant
        }
        key = try container.decode(String.self, forKey: .key)
        status = try container.decode(Status.self, forKey: .status)
        kind = try container.decodeIfPresent(Kind.self, forKey: .kind)
        amount = try container.decodeIfPresent(WireAmount.self, forKey: .amount)
        captures = try container.decode([Movement].self, forKey: .captures)
        refunds = try container.decode([Movement].self, forKey: .refunds)
        reason = try container.decodeIfPresent(String.self, forKey: .reason)
        authorizedUntil = try instant(.authorizedUntil)
        updatedAt = try instant(.updatedAt)
        if try container.contains(.metadata) && !container.decodeNil(forKey: .metadata) {
            let metadata = try container.nestedContainer(keyedBy: MetadataKeys.self, forKey: .metadata)
            payment = try metadata.decodeIfPresent(String.self, forKey: .payment)
            leg = try metadata.decodeIfPresent(String.self, forKey: .leg).flatMap { Int($0) }.flatMap {
                $0 < 0 ? nil : $0
            }
        } else {
            payment = nil
            leg = nil
        }
        guard Self.isKey(key) else { throw odd(.key) }
        guard status == .tombstoned || (kind != nil && amount != nil) else { throw odd(.amount) }
        guard Self.areDistinct(captures) else { throw odd(.captures) }
        guard Self.areDistinct(refunds) else { throw odd(.refunds) }
    }

    /// Keys are judged loosely here: whether one is ours is decided by comparison. No database keeps a text with
    /// U+0000.
    private static func isKey(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count) && !text.utf8.contains(0)
    }

    /// Two movements under one key could not both be true.
    private static func areDistinct(_ movements: [Movement]) -> Bool {
        let keys = movements.map(\.key)
        return movements.count <= 1_000 && keys.allSatisfy(isKey) && Set(keys).count == keys.count
    }
}
