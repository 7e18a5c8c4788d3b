import Crypto
import Foundation

/// One transaction of a bulk order, and how the caller's books name it.
public struct BulkTransaction: Sendable, Equatable {
    /// Its number.
    public let number: Int
    /// The caller's idempotency key of the payment.
    public let idempotencyKey: String
    /// The payment.
    public let payment: String
    /// The key of the authorization or sale.
    public let key: String
    /// What was asked.
    public let amount: Amount
    /// The key of the capture; nil where it is only held, and for a sale.
    public let captureKey: String?
    /// Whether it was taken.
    public let isCaptured: Bool
    /// What was given back.
    public let refund: BulkRefund?
    /// When it was made and changed last, milliseconds since 1970 by the provider's clock.
    public let at: Int64
}

/// The refund of a bulk transaction.
public struct BulkRefund: Sendable, Equatable {
    /// The caller's idempotency key of the refund.
    public let idempotencyKey: String
    /// The key of the refund.
    public let key: String
    /// How much was given back.
    public let amount: Amount
}

extension BulkOrder {
    /// The instrument of every transaction.
    public static let instrument = "tok_bulk"

    /// The transaction of a number, from ``first`` on.
    public func transaction(_ number: Int) -> BulkTransaction {
        let name = "\(prefix)-\(number)"
        let payment = "pay_" + Self.digest(["reconciled.payment.1", caller, name])
        func key(_ effect: String, _ operation: String) -> String {
            Self.digest(["reconciled.effect.1", caller, payment, operation, "0", effect, "0"])
        }
        let isHeld = heldEvery.map { number % $0 == 0 } ?? false
        let amount = Amount(value: amountValue(number), currency: currency)
        var refund: BulkRefund?
        if !isHeld, let refundedEvery, number % refundedEvery == 0 {
            refund = BulkRefund(
                idempotencyKey: name + "-refund", key: key("refund", name + "-refund"),
                amount: amount.with(value: amount.value / 2))
        }
        let elapsed = Double(overMs) * Double(number - first) / Double(max(count, 1))
        return BulkTransaction(
            number: number, idempotencyKey: name, payment: payment, key: key(onePhase ? "sale" : "authorize", name),
            amount: amount, captureKey: isHeld || onePhase ? nil : key("capture", name), isCaptured: !isHeld,
            refund: refund, at: (fromMs ?? 0) + Int64(elapsed))
    }

    /// 100 to 100,099.
    private func amountValue(_ number: Int) -> Int64 {
        100 + Int64(SeededChance.mixed(seed &+ UInt64(truncatingIfNeeded: number)) % 100_000)
    }

    /// 40 hexadecimal digits of the SHA-256 of texts, each after its length in eight bytes: the rule by which a daemon
    /// derives identifiers and keys.
    static func digest(_ fields: [String]) -> String {
        var hash = SHA256()
        for field in fields {
            var field = field
            withUnsafeBytes(of: UInt64(field.utf8.count).bigEndian) { hash.update(bufferPointer: $0) }
            field.withUTF8 { hash.update(bufferPointer: UnsafeRawBufferPointer($0)) }
        }
        return hexadecimal(hash.finalize().prefix(20))
    }
}

/// Lowercase digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes { text += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: text, as: UTF8.self)
}
