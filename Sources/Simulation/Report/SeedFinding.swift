internal import PaymentCore

/// What is wrong with a seed's run.
public enum SeedFinding: Sendable, Hashable, CustomStringConvertible {
    /// An invariant was broken.
    case violated(Violation)
    /// An engine did what none may do.
    case misconduct(String)
    /// It did not come to rest within this many steps, for this reason.
    case restless(steps: Int, String)
    /// The same plan ran twice to different hashes.
    case unrepeatable(first: UInt64, second: UInt64)

    public var description: String {
        switch self {
        case .violated(let violation): violation.description
        case .misconduct(let words): words
        case .restless(let steps, let unrest): "it did not come to rest within \(steps) steps: \(unrest)"
        case .unrepeatable(let first, let second):
            "the same plan ran to \(String(first, radix: 16)) and to \(String(second, radix: 16))"
        }
    }

    /// The number of the invariant that was broken, if one was.
    public var invariant: Int? {
        if case .violated(let violation) = self { return violation.invariant }
        return nil
    }

    /// Everything that is wrong with a result, the earliest first.
    static func all(in result: RunResult) -> [SeedFinding] {
        let violations = result.violations.sorted { ($0.at, $0.invariant) < ($1.at, $1.invariant) }
        return violations.map(SeedFinding.violated) + (result.misconduct.map { [.misconduct($0)] } ?? [])
            + (result.unrest.map { [.restless(steps: result.events, $0)] } ?? [])
    }

    /// Whether both are of one kind: the same invariant, or both runs end in misconduct, or come to no rest.
    func isLike(_ other: SeedFinding) -> Bool {
        switch (self, other) {
        case (.violated(let left), .violated(let right)): left.invariant == right.invariant
        case (.misconduct, .misconduct), (.restless, .restless), (.unrepeatable, .unrepeatable): true
        default: false
        }
    }
}
