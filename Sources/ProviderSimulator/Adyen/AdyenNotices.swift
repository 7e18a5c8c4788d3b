import Crypto
import Foundation
import GRDB

/// A notification that a provider has to deliver.
public struct ProviderNotice: Codable, Sendable, Equatable {
    /// The same each time that it is delivered.
    public let id: String
    /// When it happened, in milliseconds since 1970 by the provider's clock.
    public let at: Int64
    /// The body, signed.
    public let body: String
}

/// What Adyen tells of what happened (docs.adyen.com/development-resources/webhooks). It follows from the ledger, so
/// that whoever delivers it may do so late, twice, or in any order.
struct AdyenNotices {
    let tables: AdyenTables
    let merchant: String
    /// In hexadecimal; nil signs nothing.
    let key: String?

    /// Everything that was decided at this moment or later, in the order in which it happened.
    func since(_ moment: Int64) throws -> [ProviderNotice] {
        var notices: [ProviderNotice] = []
        for (row, record) in try tables.transactions() {
            let payment = AdyenReferences.payment(ofRow: row)
            notices += events(of: record, payment)
        }
        for outcome in try tables.outcomes() {
            let payment = AdyenReferences.payment(ofRow: outcome.row)
            notices.append(
                notice(
                    outcome.event, outcome.reference, of: payment, outcome.amount, at: outcome.at,
                    reason: outcome.reason))
        }
        return notices.filter { $0.at >= moment }.sorted { ($0.at, $0.id) < ($1.at, $1.id) }
    }

    private func events(of record: TransactionRecord, _ payment: String) -> [ProviderNotice] {
        guard let amount = record.amount, record.status != .pending else { return [] }
        var notices = [
            notice(
                "AUTHORISATION", record.key, psp: payment, of: nil, amount, at: record.createdAt,
                reason: record.status == .declined ? record.reason ?? "Refused" : nil)
        ]
        for (event, entries) in [("CAPTURE", record.captures), ("REFUND", record.refunds)] {
            for entry in entries where entry.status != .pending {
                let reason = entry.status == .declined ? entry.reason ?? "Refused" : nil
                notices.append(
                    notice(
                        event, entry.key, of: payment, entry.amount, at: entry.createdAt,
                        reason: entry.failedAt == nil ? reason : nil))
                guard let failedAt = entry.failedAt else { continue }
                // It was told as done, and a bank sent the money back days later. The event itself says "failed"; its
                // `success` says that this is so.
                notices.append(
                    notice(
                        "\(event)_FAILED", entry.key, of: payment, entry.amount, at: failedAt, reason: reason,
                        success: true))
            }
        }
        return notices
    }

    /// - Parameters:
    ///   - reference: the merchant's own, of what happened or of its payment.
    ///   - psp: Adyen's own of what happened; by the merchant's reference where that is a modification.
    ///   - payment: Adyen's own of the payment that a modification is of.
    ///   - reason: why it was not done; nil where it was.
    ///   - success: what the notification says of its event; nil: whether there is no reason.
    private func notice(
        _ event: String, _ reference: String, psp: String? = nil, of payment: String?, _ amount: Amount, at: Int64,
        reason: String?, success told: Bool? = nil
    ) -> ProviderNotice {
        let psp = psp ?? AdyenReferences.modification(reference)
        let success = told ?? (reason == nil) ? "true" : "false"
        let signed = [
            psp, payment ?? "", merchant, reference, String(amount.value), amount.currency, event, success,
        ].joined(separator: ":")
        var item: [(String, JSONTree)] = [
            ("additionalData", .object(signature(of: signed).map { [("hmacSignature", .text($0))] } ?? [])),
            ("amount", AdyenStep.amount(amount)), ("eventCode", .text(event)),
            ("eventDate", .text(InstantText.format(at))), ("merchantAccountCode", .text(merchant)),
            ("merchantReference", .text(reference)), ("pspReference", .text(psp)), ("reason", .text(reason ?? "")),
            ("success", .text(success)),
        ]
        if let payment { item.append(("originalReference", .text(payment))) }
        let body: JSONTree = .object([
            ("live", .text("false")),
            ("notificationItems", .list([.object([("NotificationRequestItem", .object(item))])])),
        ])
        return ProviderNotice(id: "\(event) \(psp) \(success)", at: at, body: body.text())
    }

    private func signature(of text: String) -> String? {
        guard let key, let bytes = AdyenNotices.bytes(ofHex: key) else { return nil }
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: SymmetricKey(data: bytes))
        return Data(code).base64EncodedString()
    }

    static func bytes(ofHex text: String) -> Data? {
        let digits = Array(text)
        guard !digits.isEmpty, digits.count.isMultiple(of: 2) else { return nil }
        var bytes = Data()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(digits[index...index + 1]), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
