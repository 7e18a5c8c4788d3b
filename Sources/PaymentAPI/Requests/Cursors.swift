internal import HTTPEdge
internal import PaymentCore
internal import Reconciler

/// A place in a listing of payments as callers hold it.
enum ListingCursor {
    /// The cursor after `position`.
    static func encode(_ position: PageCursor, query: PaymentQuery) -> String {
        cursor(query).text([String(position.createdAt.milliseconds), position.id.text])
    }

    /// The place; `nil` unless this cursor was made for this query.
    static func decode(_ text: String, query: PaymentQuery) -> PageCursor? {
        guard let fields = cursor(query).fields(text, count: 2), let moment = Int64(fields[0]),
            let id = PaymentID(text: fields[1])
        else { return nil }
        return PageCursor(createdAt: Timestamp(milliseconds: moment), id: id)
    }

    private static func cursor(_ query: PaymentQuery) -> OpaqueCursor {
        OpaqueCursor(of: "listing", filters: query.filters)
    }
}

/// A place in a payment's audit trail as callers hold it.
enum EventCursor {
    /// The cursor after a sequence number.
    static func encode(_ sequence: Int64, payment: PaymentID) -> String {
        cursor(payment).text([String(sequence)])
    }

    /// The sequence number; `nil` unless this cursor was made for this payment.
    static func decode(_ text: String, payment: PaymentID) -> Int64? {
        guard let sequence = cursor(payment).fields(text, count: 1).flatMap({ Int64($0[0]) }), sequence >= 0 else {
            return nil
        }
        return sequence
    }

    private static func cursor(_ payment: PaymentID) -> OpaqueCursor {
        OpaqueCursor(of: "events", payment.text)
    }
}
