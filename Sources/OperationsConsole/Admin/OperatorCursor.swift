internal import HTTPEdge
internal import PaymentCore
public import Reconciler

/// Places in listings as the operations API gives and takes them, for the command line: opaque, and good only for the
/// filters that they were made with.
public enum OperatorCursor {
    /// The place after a page of payments.
    public static func text(_ cursor: PageCursor, of query: PaymentQuery) -> String {
        payments(query).text([String(cursor.createdAt.milliseconds), cursor.id.text])
    }

    /// The place that a text names; `nil` unless it was made for this query.
    public static func cursor(_ text: String, of query: PaymentQuery) -> PageCursor? {
        guard let fields = payments(query).fields(text, count: 2), let moment = Int64(fields[0]),
            let id = PaymentID(text: fields[1])
        else { return nil }
        return PageCursor(createdAt: Timestamp(milliseconds: moment), id: id)
    }

    private static func payments(_ query: PaymentQuery) -> OpaqueCursor {
        OpaqueCursor(of: "listing", filters: query.filters)
    }

    /// The place after a page of discrepancies.
    public static func text(_ cursor: DiscrepancyCursor, of query: DiscrepancyQuery) -> String {
        ComparisonCursor.encode(cursor, query: query)
    }

    /// The place that a text names; `nil` unless it was made for this query.
    public static func cursor(_ text: String, of query: DiscrepancyQuery) -> DiscrepancyCursor? {
        ComparisonCursor.discrepancies(text, query: query)
    }
}
