/// A moment on the wall clock: milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
///
/// The core never reads a clock: every moment comes in as an argument, so that the same code can be stepped by the
/// daemon, by a simulator in virtual time and by a model checker.
public struct Timestamp: Sendable, Hashable, Comparable, Codable {
    /// Milliseconds since the epoch.
    public let milliseconds: Int64

    /// Makes a moment from milliseconds since the epoch.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Decodes the bare number of milliseconds.
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Encodes the bare number of milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }

    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.milliseconds < right.milliseconds
    }

    /// The moment `span` later; it stops at the ends of what can be represented instead of trapping.
    public static func + (moment: Timestamp, span: Span) -> Timestamp {
        let (sum, overflow) = moment.milliseconds.addingReportingOverflow(span.milliseconds)
        guard overflow else { return Timestamp(milliseconds: sum) }
        return Timestamp(milliseconds: span.milliseconds > 0 ? .max : .min)
    }

    /// The time from `earlier` to `later`.
    public static func - (later: Timestamp, earlier: Timestamp) -> Span {
        let (difference, overflow) = later.milliseconds.subtractingReportingOverflow(earlier.milliseconds)
        guard overflow else { return Span(milliseconds: difference) }
        return Span(milliseconds: later.milliseconds > 0 ? .max : .min)
    }
}

/// A length of time in milliseconds; may be negative.
public struct Span: Sendable, Hashable, Comparable, Codable {
    /// The length in milliseconds.
    public let milliseconds: Int64

    /// Makes a length from milliseconds.
    public init(milliseconds: Int64) {
        self.milliseconds = milliseconds
    }

    /// Decodes the bare number of milliseconds.
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Encodes the bare number of milliseconds.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }

    /// No time at all.
    public static let zero = Span(milliseconds: 0)
    /// A number of milliseconds.
    public static func milliseconds(_ count: Int64) -> Span { Span(milliseconds: count) }
    /// A number of seconds.
    public static func seconds(_ count: Int64) -> Span { Span(milliseconds: clamped(count, 1_000)) }
    /// A number of minutes.
    public static func minutes(_ count: Int64) -> Span { Span(milliseconds: clamped(count, 60_000)) }
    /// A number of hours.
    public static func hours(_ count: Int64) -> Span { Span(milliseconds: clamped(count, 3_600_000)) }
    /// A number of days of 24 hours.
    public static func days(_ count: Int64) -> Span { Span(milliseconds: clamped(count, 86_400_000)) }

    public static func < (left: Span, right: Span) -> Bool { left.milliseconds < right.milliseconds }

    /// The sum; it stops at the ends of what can be represented.
    public static func + (left: Span, right: Span) -> Span {
        let (sum, overflow) = left.milliseconds.addingReportingOverflow(right.milliseconds)
        guard overflow else { return Span(milliseconds: sum) }
        return Span(milliseconds: right.milliseconds > 0 ? .max : .min)
    }

    /// The difference; it stops at the ends of what can be represented.
    public static func - (left: Span, right: Span) -> Span {
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        guard overflow else { return Span(milliseconds: difference) }
        return Span(milliseconds: right.milliseconds < 0 ? .max : .min)
    }

    private static func clamped(_ count: Int64, _ unit: Int64) -> Int64 {
        let (product, overflow) = count.multipliedReportingOverflow(by: unit)
        guard overflow else { return product }
        return count > 0 ? .max : .min
    }
}
