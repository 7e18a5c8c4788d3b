public import PaymentCore

/// Something that must never happen, and did.
public struct Violation: Error, Sendable, Hashable, CustomStringConvertible {
    /// The number of the invariant, 1 to 27.
    public let invariant: Int
    /// When, by the run's true time.
    public let at: Timestamp
    /// Which payment it is about, if one.
    public let payment: PaymentID?
    /// What was seen.
    public let words: String

    /// A violation.
    public init(invariant: Int, at: Timestamp, payment: PaymentID?, words: String) {
        self.invariant = invariant
        self.at = at
        self.payment = payment
        self.words = words
    }

    public var description: String {
        "invariant \(invariant) at \(at.rfc3339)\(payment.map { ", \($0)" } ?? ""): \(words)"
    }
}

/// The violations of one invariant. It keeps the first ones; one is enough for a run to fail.
public struct Findings: Sendable {
    private let invariant: Int
    /// The first violations.
    public private(set) var violations: [Violation] = []
    /// How many there were.
    public private(set) var count = 0
    private static let most = 20

    init(_ invariant: Int) { self.invariant = invariant }

    /// Notes a violation unless `holds`. The words are made only if they are needed.
    mutating func require(
        _ holds: Bool, _ at: Timestamp, _ payment: PaymentID?, _ words: @autoclosure () -> String
    ) {
        guard !holds else { return }
        count += 1
        guard violations.count < Findings.most else { return }
        violations.append(Violation(invariant: invariant, at: at, payment: payment, words: words()))
    }
}
