public import Reconciler

/// Places in listings as the operations API gives and takes them, for the command line: opaque, and good only for the
/// filters that they were made with.
public enum OperatorCursor {
    /// The place after a page of payments.
    public static func text(_ place: PageCursor, of query: PaymentQuery) -> String {
        ListingCursor.encode(place, query: query)
    }

    /// The place that a text names; `nil` unless it was made for this query.
    public static func place(_ text: String, of query: PaymentQuery) -> PageCursor? {
        ListingCursor.decode(text, query: query)
    }

    /// The place after a page of discrepancies.
    public static func text(_ place: DiscrepancyCursor, of query: DiscrepancyQuery) -> String {
        ComparisonCursor.encode(place, query: query)
    }

    /// The place that a text names; `nil` unless it was made for this query.
    public static func place(_ text: String, of query: DiscrepancyQuery) -> DiscrepancyCursor? {
        ComparisonCursor.discrepancies(text, query: query)
    }
}
