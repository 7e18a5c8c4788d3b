internal import PaymentCore
internal import Reconciler

/// A part of a window, in seconds, as long as few answers can show.
///
/// Stripe lists newest first, and a comparison reads oldest first. So a window is read in slices, one after the other.
struct StripeSlice: Sendable, Hashable {
    /// The first second, inclusive.
    private(set) var from: Int64
    /// The last one, exclusive.
    private(set) var to: Int64
    /// The end of the window, exclusive.
    let end: Int64

    /// The slice that an order is about: at first the whole window.
    ///
    /// `nil` if no second of Stripe's lies in the window.
    ///
    /// - Throws: if the cursor is none of this listing.
    init?(_ order: ListingOrder) throws(UnknownCursor) {
        from = Self.firstSecond(since: order.window.from)
        end = Self.firstSecond(since: order.window.to)
        to = end
        if let cursor = order.cursor {
            let parts = cursor.split(separator: " ", omittingEmptySubsequences: false).map { Int64($0) }
            guard parts.count == 2, let next = parts[0], let width = parts[1], (from..<end).contains(next), width > 0,
                width <= end - from
            else { throw UnknownCursor() }
            from = next
            to = min(end, next + width)
        }
        guard from < end else { return nil }
    }

    /// A cursor that is none.
    struct UnknownCursor: Error {}

    /// Stripe's moments are whole seconds.
    private static func firstSecond(since moment: Timestamp) -> Int64 {
        let (seconds, rest) = moment.milliseconds.quotientAndRemainder(dividingBy: 1_000)
        return rest > 0 ? seconds + 1 : seconds
    }

    /// Whether it can be made shorter.
    var isDivisible: Bool { to - from > 1 }

    /// The first half of it.
    mutating func halve() { to = from + max(1, (to - from) / 2) }

    /// The slice after it; `nil` at the end of the window.
    ///
    /// - Parameter isSparse: whether so little was in this one that the next may be longer.
    func next(isSparse: Bool) -> StripeSlice? {
        guard to < end else { return nil }
        var next = self
        next.from = to
        next.to = min(end, to + (to - from) * (isSparse ? 2 : 1))
        return next
    }

    /// Where a listing goes on with it.
    var cursor: String { "\(from) \(to - from)" }

    /// When it ends.
    var endMoment: Timestamp { Timestamp(milliseconds: to * 1_000) }

    func contains(_ moment: Timestamp) -> Bool { (from..<to).contains(moment.milliseconds / 1_000) }

    var query: [(name: String, value: String)] { [("created[gte]", String(from)), ("created[lt]", String(to))] }
}
