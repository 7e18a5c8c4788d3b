internal import PaymentCore
internal import Reconciler

/// A place in a listing of payments as callers hold it: opaque, and good only for the filters that it was
/// made with.
///
/// The check digits are no secret: a cursor opens nothing that its caller may not see. They find what was
/// changed or used with other filters.
enum ListingCursor {
    /// The cursor after `place`.
    static func encode(_ place: PageCursor, query: PaymentQuery) -> String {
        let fields = [String(place.createdAt.milliseconds), place.id.text]
        return Base64URL.encode(Array((fields + [check(fields, query)]).joined(separator: "|").utf8))
    }

    /// The place; `nil` unless this cursor was made for this query.
    static func decode(_ text: String, query: PaymentQuery) -> PageCursor? {
        guard (1...512).contains(text.utf8.count), let bytes = Base64URL.decode(text),
            let plain = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = plain.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts.last == check(Array(parts.dropLast()), query),
            let moment = parts.first.flatMap({ Int64($0) }), let id = PaymentID(text: parts[1])
        else { return nil }
        return PageCursor(createdAt: Timestamp(milliseconds: moment), id: id)
    }

    private static func check(_ fields: [String], _ query: PaymentQuery) -> String {
        let filters = [
            query.caller?.name, query.reference, query.state?.rawValue, query.provider?.name,
            query.createdAfter.map { String($0.milliseconds) }, query.waitsFor?.rawValue,
        ]
        let digest = Digest(of: ["listing"] + fields + filters.flatMap { $0.map { ["+", $0] } ?? ["-"] })
        return String(digest.hex.prefix(16))
    }
}

/// A place in a payment's audit trail as callers hold it.
enum EventCursor {
    /// The cursor after a sequence number.
    static func encode(_ sequence: Int64, payment: PaymentID) -> String {
        Base64URL.encode(Array("\(sequence)|\(check(String(sequence), payment))".utf8))
    }

    /// The sequence number; `nil` unless this cursor was made for this payment.
    static func decode(_ text: String, payment: PaymentID) -> Int64? {
        guard (1...512).contains(text.utf8.count), let bytes = Base64URL.decode(text),
            let plain = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = plain.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let number = parts.first, parts.last == check(number, payment),
            let sequence = Int64(number), sequence >= 0
        else { return nil }
        return sequence
    }

    private static func check(_ number: String, _ payment: PaymentID) -> String {
        String(Digest(of: ["events", payment.text, number]).hex.prefix(16))
    }
}
