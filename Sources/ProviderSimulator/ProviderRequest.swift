import Crypto
import Foundation

/// One request as it reached a provider, understood but not yet judged.
///
/// It can be kept and executed later.
struct ProviderRequest: Codable, Sendable, Equatable {
    enum Command: Codable, Sendable, Equatable {
        case pay(PaymentOrder)
        case capture(Amount)
        case refund(Amount)
        case void
        case inquire
        case list(ListQuery)
        /// A call of Stripe's wire.
        case stripe(StripeCall)
        /// A call of PayPay's wire.
        case paypay(PayPayCall)
        /// A call of Adyen's wire.
        case adyen(AdyenCall)
        /// It could not be read, or its sender is not known.
        case refused(Problem)
    }

    let provider: String
    var operation: Operation
    /// The transaction's key; empty for a listing.
    var key: String
    /// The capture's or refund's key; empty where there is none.
    var entryKey: String
    /// `Not-After`, milliseconds since 1970.
    let notAfter: Int64?
    var command: Command
}

/// The body of an authorize or a sale, without the instrument's token.
struct PaymentOrder: Codable, Sendable, Equatable {
    let kind: TransactionKind
    let amount: Amount
    let metadata: [String: String]
    let behaviour: InstrumentBehaviour
    /// Equal exactly for bodies that are equal as values.
    let fingerprint: String
    /// Where the payer is sent back to; nil where the payer is not present.
    var returnURL: String?
}

/// What a listing asks for.
///
/// Its position is the last transaction that was seen.
struct ListQuery: Codable, Sendable, Equatable {
    var updatedAfter: Int64?
    var updatedBefore: Int64?
    var position: Position?
    var limit = 100

    struct Position: Codable, Sendable, Equatable {
        let updatedAt: Int64
        let key: String
        let id: Int64
    }
}

/// The body of `PUT /transactions/{key}`.
struct TransactionBody: Decodable {
    let kind: TransactionKind
    let amount: Amount
    let instrument: String
    let metadata: [String: String]
    let returnURL: String?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case kind, amount, instrument, metadata
        case returnURL = "return_url"
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        kind = try container.decode(TransactionKind.self, forKey: .kind)
        amount = try container.decode(Amount.self, forKey: .amount)
        instrument = try container.decode(String.self, forKey: .instrument)
        metadata = try container.decodeIfPresent([String: String].self, forKey: .metadata) ?? [:]
        returnURL = try container.decodeIfPresent(String.self, forKey: .returnURL)
        guard returnURL.map({ (1...2_048).contains($0.utf8.count) }) ?? true else {
            throw decoder.refuse(CodingKeys.returnURL, "1 to 2048 bytes")
        }
        guard (1...255).contains(instrument.count) else {
            throw decoder.refuse(CodingKeys.instrument, "1 to 255 characters")
        }
        guard metadata.count <= 20,
            metadata.allSatisfy({ (1...40).contains($0.key.count) && $0.value.count <= 500 })
        else {
            throw decoder.refuse(
                CodingKeys.metadata, "at most 20 members, names 1 to 40, values to 500 characters")
        }
    }

    var order: PaymentOrder {
        PaymentOrder(
            kind: kind, amount: amount, metadata: metadata, behaviour: InstrumentBehaviour(instrument: instrument),
            fingerprint: PaymentOrder.fingerprint(
                kind: kind, amount, instrument: instrument, metadata, returnURL: returnURL),
            returnURL: returnURL)
    }
}

extension PaymentOrder {
    /// The digest of a body, as a value.
    static func fingerprint(
        kind: TransactionKind, _ amount: Amount, instrument: String, _ metadata: [String: String],
        returnURL: String? = nil
    ) -> String {
        var parts = [kind.rawValue, String(amount.value), amount.currency, instrument]
        for (name, value) in metadata.sorted(by: { $0.key < $1.key }) { parts += [name, value] }
        if let returnURL { parts += ["return_url", returnURL] }
        // Lengths keep ("a", "bc") and ("ab", "c") apart.
        let canonical = parts.map { "\($0.utf8.count):\($0)" }.joined()
        return hexadecimal(SHA256.hash(data: Data(canonical.utf8)))
    }
}

/// The body of a capture or refund.
struct AmountBody: Decodable {
    let amount: Amount

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case amount
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        amount = try decoder.container(keyedBy: CodingKeys.self).decode(Amount.self, forKey: .amount)
    }
}
