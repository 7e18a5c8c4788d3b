internal import Foundation
internal import PaymentCore
internal import Reconciler

/// The JSON in which a payment, and the fields of an audit entry, are stored.
enum PaymentDocument {
    // Sorted keys: the same payment gives the same bytes. An encoder that is not changed any more may be shared.
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()
    private static let decoder = JSONDecoder()

    static func encode(_ payment: Payment) throws(StoreFailure) -> Data {
        do {
            return try encoder.encode(payment)
        } catch {
            throw StoreFailure(error, operation: "encode")
        }
    }

    static func decode(_ document: Data) throws(StoreFailure) -> Payment {
        do {
            return try decoder.decode(Payment.self, from: document)
        } catch {
            throw StoreFailure(error, operation: "decode")
        }
    }

    /// Fields in order, each a pair of name and value.
    static func encode(_ fields: [AuditField]) throws(StoreFailure) -> String {
        do {
            return String(decoding: try encoder.encode(fields.map { [$0.name, $0.value] }), as: UTF8.self)
        } catch {
            throw StoreFailure(error, operation: "encode")
        }
    }

    static func decodeFields(_ text: String) throws -> [AuditField] {
        try decoder.decode([[String]].self, from: Data(text.utf8)).map { pair in
            guard pair.count == 2, let name = pair.first, let value = pair.last else {
                throw StoreFailure(.corrupted, operation: "decode", cause: "an audit field is no pair")
            }
            return AuditField(name, value)
        }
    }

    /// An entry exactly as it is stored, even where its hash is not that of its content.
    static func entry(_ stored: some Encodable) throws -> AuditEntry {
        try decoder.decode(AuditEntry.self, from: encoder.encode(stored))
    }
}
