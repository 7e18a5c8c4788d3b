package import Foundation
package import PaymentCore
package import Reconciler

/// The JSON in which a payment, and the fields of an audit entry, are stored.
package enum PaymentDocument {
    private static let decoder = JSONDecoder()

    /// The bytes of a payment: the same for the same payment.
    package static func encode(_ payment: Payment) throws(StoreFailure) -> [UInt8] {
        do {
            return try DocumentEncoder.bytes(of: payment)
        } catch {
            throw StoreFailure(coding: error, operation: "encode")
        }
    }

    /// The payment of stored bytes.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package static func decode(_ document: Data) throws(StoreFailure) -> Payment {
        do {
            return try decoder.decode(Payment.self, from: document)
        } catch {
            throw StoreFailure(coding: error, operation: "decode")
        }
    }

    /// Fields in order, each a pair of name and value.
    ///
    /// Written by hand, because there are several with every commit and their form is simple.
    package static func encode(_ fields: [AuditField]) -> String {
        var text: [UInt8] = [UInt8(ascii: "[")]
        for field in fields {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text.append(UInt8(ascii: "["))
            append(field.name, to: &text)
            text.append(UInt8(ascii: ","))
            append(field.value, to: &text)
            text.append(UInt8(ascii: "]"))
        }
        text.append(UInt8(ascii: "]"))
        return String(decoding: text, as: UTF8.self)
    }

    /// A JSON string (RFC 8259, section 7): quotation mark, backslash and control characters are escaped.
    static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                text += "\\u\(String(repeating: "0", count: 4 - digits.utf8.count))\(digits)".utf8
            default:
                text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }

    /// Fields that the encoder made.
    package static func decodeFields(_ text: String) throws -> [AuditField] {
        try decoder.decode([[String]].self, from: Data(text.utf8)).map { pair in
            guard pair.count == 2, let name = pair.first, let value = pair.last else {
                throw StoreFailure(.corrupted, operation: "decode", cause: "an audit field is no pair")
            }
            return AuditField(name, value)
        }
    }

    /// An entry exactly as it is stored, even where its hash is not that of its content.
    package static func entry(_ stored: some Encodable) throws -> AuditEntry {
        try decoder.decode(AuditEntry.self, from: Data(DocumentEncoder.bytes(of: stored)))
    }
}
