/// The table of the comparison: what one position is, seen from both sides. The first row that matches wins, and every
/// combination of facts has one.
public struct ComparisonTable: Sendable {
    /// One row of the table.
    public struct Row: Sendable {
        /// The name under which evidence and documentation know it.
        public let name: String
        /// The class that it finds.
        public let finds: ComparisonClass
        let matches: @Sendable (ComparisonFacts) -> Bool

        /// A row; other tables than the shipped one are made only by checkers that plant a change.
        public init(
            _ name: String, _ finds: ComparisonClass, when matches: @escaping @Sendable (ComparisonFacts) -> Bool
        ) {
            self.name = name
            self.finds = finds
            self.matches = matches
        }

        /// Whether the row is for these facts.
        public func applies(to facts: ComparisonFacts) -> Bool { matches(facts) }
    }

    /// A class and the row that found it.
    public struct Verdict: Sendable, Hashable {
        /// The row's name.
        public let row: String
        /// The class.
        public let finds: ComparisonClass
    }

    /// The rows, in order.
    public let rows: [Row]

    /// A table of the given rows.
    public init(rows: [Row]) { self.rows = rows }

    /// The table that the daemon ships.
    public static let shipped = ComparisonTable(rows: unknownRows + knownRows)

    /// The first row that matches decides. What no row knows is a difference: a table with a hole hides nothing. (A
    /// test shows that the shipped table has none.)
    public func classify(_ facts: ComparisonFacts) -> Verdict {
        for row in rows where row.matches(facts) { return Verdict(row: row.name, finds: row.finds) }
        return Verdict(row: "no-row", finds: .statusDiffers)
    }
}

extension ComparisonTable {
    /// No leg of ours has the key.
    static let unknownRows: [Row] = [
        Row("theirs.other-store", .otherStore) {
            $0.ours == .unknown && $0.naming == .otherStore && $0.theirs != .absent
        },
        Row("theirs.nowhere", .inert) { $0.ours == .unknown && $0.theirs == .absent },
        Row("theirs.holds-nothing", .inert) {
            $0.ours == .unknown && $0.isReadable && ($0.theirs == .reversed || $0.theirs == .ended)
        },
        Row("theirs.young", .inFlight) { $0.ours == .unknown && $0.isYoung },
        Row("theirs.duplicate", .duplicate) { $0.ours == .unknown && $0.naming == .otherTransaction },
        Row("theirs.orphan", .orphan) { $0.ours == .unknown && $0.naming == .lostLeg },
        // What changes at the provider after its payment was pruned is for people: nobody here knows any more what it
        // should be.
        Row("theirs.pruned", .foreign) { $0.ours == .unknown && $0.naming == .prunedPayment },
        Row("theirs.foreign", .foreign) { $0.ours == .unknown },
    ]

    /// The row for money that the listing showed, and that the provider denies when it is asked for the key. Reading
    /// the status again shows nothing else: people are told.
    static let denied = "theirs.denied"
    /// The row for what the listing shows, of a leg whose status the provider may not show any more. Reading the status
    /// again shows nothing else: people are told (seed 31658576151724).
    static let forgotten = "theirs.forgotten"
    /// The row for refunds that our books do not have, where both sides agree in all else.
    static let refundedByOthers = "both.refunded-by-others"

    /// A leg of ours has it.
    static let knownRows: [Row] = [
        // Under such a key nothing is sent by itself: it might reach either of them.
        Row("theirs.twice", .duplicate) { $0.isDoubled && !$0.isYoung },
        Row("both.contradiction", .contradiction) { $0.theirs != .absent && !$0.isReadable },
        Row("both.currency", .currencyDiffers) { $0.theirs != .absent && $0.amount == .currencyDiffers },
        Row("both.amount", .amountDiffers) { $0.theirs != .absent && $0.amount == .differs },
        Row(ComparisonTable.denied, .contradiction) { $0.isDenied && !$0.isYoung && $0.work != .underWay },
        Row("both.same", .matched) {
            $0.work == .none && $0.agrees && !$0.isDoubled && ($0.theirs == .absent || !$0.isHidden)
        },
        Row("both.young", .inFlight) { $0.isYoung },
        Row("both.hidden", .hidden) { $0.work == .none && $0.agrees },
        Row("ours.under-way", .inFlight) {
            // What we give back is listed as ours once that is known here (seed 1237344939).
            $0.agrees || $0.work == .underWay && $0.bothTook && $0.capturedSame && $0.refunds == .othersToo
        },
        Row("ours.undecided", .inFlight) {
            // What holds nothing there needs nobody's help; a case that people decide is known to them already.
            $0.ours == .undecided
                && ($0.theirs == .absent || $0.theirs == .pending || $0.work == .people && $0.holdsNothing)
        },
        Row("ours.only", .oursOnly) { $0.theirs == .absent },
        Row("both.refund", .refundDiffers) { $0.bothTook && $0.capturedSame && $0.refunds == .oursDiffer },
        Row(ComparisonTable.refundedByOthers, .lateReversal) {
            $0.bothTook && $0.capturedSame && $0.refunds == .othersToo
        },
        Row("both.captured", .amountDiffers) { $0.bothTook && !$0.capturedSame },
        Row("theirs.reversed", .lateReversal) { $0.ours == .taken && $0.theirs == .reversed },
        Row("both.status", .statusDiffers) { _ in true },
    ]
}

extension ComparisonFacts {
    /// Whether both sides say the same of the money.
    fileprivate var agrees: Bool {
        switch (ours, theirs) {
        case (.held, .held), (.ended, .absent), (.ended, .ended), (.ended, .reversed): true
        case (.taken, .taken), (.givenBack, .reversed): capturedSame && refunds == .same
        default: false
        }
    }

    fileprivate var holdsNothing: Bool { theirs == .reversed || theirs == .ended }

    /// Whether there is a capture on both sides whose refunds can be compared.
    fileprivate var bothTook: Bool {
        (ours == .taken || ours == .givenBack) && (theirs == .taken || theirs == .reversed)
    }
}
