internal import Foundation
package import PaymentCore
internal import Reconciler

/// What our books say of a leg, as columns of `legs` and `payments`.
///
/// `payments.booked_version` is the version of the payment from which the columns of its legs were derived. Where it is
/// another than the payment's, a program wrote the payment that does not know these columns, and the position is
/// derived from the document instead.
package enum BookedColumns {
    /// The columns of a leg.
    package static let legColumns = [
        "payment_id", "leg", "key", "amount", "currency", "captured", "refunds", "stands", "work", "asked_at",
    ]

    /// The columns of a leg, with commas between.
    package static let leg = legColumns.joined(separator: ", ")

    /// The columns of a leg under a name.
    package static func leg(_ name: String) -> String {
        legColumns.map { "\(name).\($0)" }.joined(separator: ", ")
    }

    /// What is selected of a payment. Its document is read only where the columns are not those of its version.
    package static let payment = """
        id, state, updated_at, CASE WHEN booked_version = version THEN NULL ELSE document END AS document
        """

    /// The columns of a payment under `p`, as ``payment`` selects it.
    package static let ofPayment = "p.state, p.updated_at, p.document"

    /// The columns of a leg under `l` and its payment under `p`.
    package static let selection = "\(leg("l")), \(ofPayment)"

    /// How many columns there are.
    package static let count = legColumns.count + 3

    /// The effects by whose keys a leg is found.
    package static let primaryKinds = "kind IN ('authorize', 'sale')"

    /// The position in a row, whose columns begin at `first`; `nil` if there is no leg.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package static func position(
        _ row: some ColumnReader, from first: Int, at provider: ProviderName
    ) throws -> BookedPosition? {
        guard let text = try row.text(first) else { return nil }
        guard let payment = PaymentID(text: text) else { throw StoreFailure.malformed("a payment's id is malformed") }
        let leg = Int(try row.number(first + 1))
        if let document = try row.data(first + 12) {
            let found = try PaymentDocument.decode(document).bookedPositions.first { $0.leg == leg }
            guard let found, found.payment == payment, found.provider == provider else {
                throw StoreFailure.malformed("a payment's document has another leg than its rows")
            }
            return found
        }
        let currency = try row.currency(first + 4)
        return BookedPosition(
            payment: payment, leg: leg, provider: provider, key: EffectKey(reported: try row.word(first + 2)),
            amount: try Money(row.number(first + 3), currency), captured: try Money(row.number(first + 5), currency),
            refunds: try row.refunds(first + 6), standing: try row.choice(first + 7),
            work: try row.choice(first + 8), state: try row.choice(first + 10),
            updatedAt: Timestamp(milliseconds: try row.number(first + 11)),
            askedAt: try row.int(first + 9).map { Timestamp(milliseconds: $0) })
    }
}

/// Refunds as one column: NULL where there are none, which is nearly always.
enum RefundColumn {
    static func text(_ refunds: [RefundPosition]) throws(StoreFailure) -> String? {
        refunds.isEmpty ? nil : try StoredDocument.encode(refunds)
    }
}

extension ColumnReader {
    /// A currency by its code.
    package func currency(_ column: Int) throws -> Currency {
        guard let currency = Currency(code: try word(column)) else {
            throw StoreFailure.malformed("a stored currency is unknown")
        }
        return currency
    }

    /// Refunds, in their stored order.
    func refunds(_ column: Int) throws -> [RefundPosition] {
        guard let data = try data(column) else { return [] }
        return try StoredDocument.decode(data)
    }

    /// A payment's id; `nil` for NULL.
    func payment(_ column: Int) throws -> PaymentID? {
        guard let text = try text(column) else { return nil }
        guard let payment = PaymentID(text: text) else { throw StoreFailure.malformed("a payment's id is malformed") }
        return payment
    }
}

extension KnownPosition {
    /// What is known of a key, and the leg that was found for it. A leg has the key that its payment says; any other
    /// is only named.
    package init(key: EffectKey, books: BookedPosition?, row: ComparedPosition?) {
        let isOwn = books?.key == key
        self.init(key: key, ours: isOwn ? books : nil, named: isOwn ? nil : books, row: row)
    }
}
