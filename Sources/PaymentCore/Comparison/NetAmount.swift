/// What was captured less what was given back, in minor units of a currency. Below zero where more was given back than
/// was taken.
public struct NetAmount: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Minor units; may be negative.
    public let value: Int64
    /// The currency whose minor unit is counted.
    public let currency: Currency

    /// An amount.
    public init(_ value: Int64, _ currency: Currency) {
        self.value = value
        self.currency = currency
    }

    /// What is left of `captured` after `refunded`, which is of the same currency.
    public init(captured: Money, refunded: Money) {
        // Neither is negative, so that the difference fits.
        self.init(captured.value - refunded.value, captured.currency)
    }

    public var description: String { "\(value) \(currency.code)" }
}

/// Sums of both sides, by currency. Arithmetic is checked: a sum that does not fit is an error, never another number.
public struct NetSums: Sendable, Hashable, Codable {
    /// One currency's sums.
    public struct Sides: Sendable, Hashable, Codable {
        /// By our books, in minor units.
        public var ours: Int64
        /// By what the provider shows, in minor units.
        public var theirs: Int64

        /// Sums.
        public init(ours: Int64 = 0, theirs: Int64 = 0) {
            self.ours = ours
            self.theirs = theirs
        }
    }

    /// One currency's sums under its code: how sums are stored.
    public struct Line: Sendable, Hashable, Codable {
        /// The currency.
        public var currency: Currency
        /// Its sums.
        public var sides: Sides

        /// A line.
        public init(currency: Currency, sides: Sides) {
            self.currency = currency
            self.sides = sides
        }
    }

    /// The sums of every currency that was ever counted.
    public private(set) var byCurrency: [Currency: Sides]

    /// Sums; none by default.
    public init(_ byCurrency: [Currency: Sides] = [:]) { self.byCurrency = byCurrency }

    /// Decodes a list of lines.
    public init(from decoder: any Decoder) throws {
        let lines = try decoder.singleValueContainer().decode([Line].self)
        byCurrency = Dictionary(lines.map { ($0.currency, $0.sides) }, uniquingKeysWith: { first, _ in first })
    }

    /// Encodes the lines in order of their codes.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(lines)
    }

    /// The lines in order of their codes.
    public var lines: [Line] {
        byCurrency.map { Line(currency: $0.key, sides: $0.value) }.sorted { $0.currency.code < $1.currency.code }
    }

    /// Whether nothing was counted.
    public var isEmpty: Bool { byCurrency.isEmpty }

    /// One currency's sums; zero if it was never counted.
    public subscript(currency: Currency) -> Sides { byCurrency[currency] ?? Sides() }

    /// Counts what both sides of one position hold; `sign` -1 takes it away.
    public mutating func count(ours: NetAmount?, theirs: NetAmount?, sign: Int64 = 1) throws(Money.Failure) {
        if let ours {
            byCurrency[ours.currency, default: Sides()].ours = try NetSums.sum(
                self[ours.currency].ours, ours.value, sign)
        }
        if let theirs {
            byCurrency[theirs.currency, default: Sides()].theirs = try NetSums.sum(
                self[theirs.currency].theirs, theirs.value, sign)
        }
    }

    /// Adds other sums, currency by currency.
    public mutating func add(_ other: NetSums) throws(Money.Failure) {
        for (currency, sides) in other.byCurrency {
            try count(ours: NetAmount(sides.ours, currency), theirs: NetAmount(sides.theirs, currency))
        }
    }

    private static func sum(_ left: Int64, _ right: Int64, _ sign: Int64) throws(Money.Failure) -> Int64 {
        let (sum, overflow) =
            sign < 0 ? left.subtractingReportingOverflow(right) : left.addingReportingOverflow(right)
        guard !overflow else { throw .overflow }
        return sum
    }
}

/// What explains the difference between the sides in one currency, in minor units, ours less theirs.
public struct ExplainedDifference: Sendable, Hashable, Codable {
    /// By discrepancies that have a name.
    public var discrepancies: Int64
    /// By what is not decided yet on our side, or too young to be judged.
    public var inFlight: Int64

    /// An explanation.
    public init(discrepancies: Int64 = 0, inFlight: Int64 = 0) {
        self.discrepancies = discrepancies
        self.inFlight = inFlight
    }
}

/// The proof over one currency: opening plus what the run moved equals closing on both sides, and whatever is left
/// between the sides has a name.
public struct BalanceProof: Sendable, Hashable, Codable {
    /// The currency.
    public let currency: Currency
    /// Before the run: the closing of the run before it.
    public let opening: NetSums.Sides
    /// What the run moved.
    public let moved: NetSums.Sides
    /// What stands after the run, as the store added it up.
    public let closing: NetSums.Sides
    /// What explains the difference between the sides.
    public let explained: ExplainedDifference

    /// Puts the parts together; whether they fit is told by ``isProven``.
    public init(
        currency: Currency, opening: NetSums.Sides, moved: NetSums.Sides, closing: NetSums.Sides,
        explained: ExplainedDifference
    ) {
        self.currency = currency
        self.opening = opening
        self.moved = moved
        self.closing = closing
        self.explained = explained
    }

    /// What stands at the end, and did not stand at the beginning and was not moved.
    public var drift: NetSums.Sides {
        NetSums.Sides(
            ours: closing.ours &- (opening.ours &+ moved.ours),
            theirs: closing.theirs &- (opening.theirs &+ moved.theirs))
    }

    /// The difference between the sides that nothing explains, in minor units, ours less theirs.
    public var unexplained: Int64 {
        // Wrapping is harmless: a difference is zero modulo 2^64 only if it is zero or the sums did not fit anyway.
        (closing.ours &- closing.theirs) &- (explained.discrepancies &+ explained.inFlight)
    }

    /// Whether the money is proven.
    public var isProven: Bool { drift == NetSums.Sides() && unexplained == 0 }
}
