public import PaymentCore

/// What a process may do for its site, as everybody in it is told: a value around ``SiteMachine``.
///
/// Losing the role works at once. Getting it works once it was told: before that the store does not write under the
/// term, and the engine does not know the recovery window.
public struct SiteRight: Sendable {
    /// `nil` where there is one site, without anybody who could take its place.
    private var machine: SiteMachine?
    /// What everybody was told last.
    public private(set) var told: SiteStanding

    /// A right that nobody has given yet.
    public init(_ settings: SiteMachine.Settings) {
        let machine = SiteMachine(settings)
        self.machine = machine
        told = machine.standing(at: SteadyMoment(milliseconds: 0))
    }

    private init(told: SiteStanding) { self.told = told }

    /// The right of one site, without anybody who could take its place.
    public static let alone = SiteRight(told: .alone)

    /// The row that was read last.
    public var row: SiteRow? { machine?.row }

    /// What may be done at a moment.
    public func standing(at now: SteadyMoment) -> SiteStanding {
        guard let machine else { return told }
        var standing = machine.standing(at: now)
        // Whoever acts hears of a change at the same moment as who listens, so that nobody is ahead of the other.
        if standing.essence != told.essence, standing.isActive { standing.refusal = .notKnownYet }
        return standing
    }

    /// For how long what there is may go on; `nil` if it may not. Without a limit, the longest span there is.
    public func settlesFor(at now: SteadyMoment) -> Span? {
        let standing = standing(at: now)
        guard standing.maySettle else { return nil }
        guard let until = standing.until else { return Span(milliseconds: .max) }
        let left = until - now
        return left > .zero ? left : nil
    }

    /// Takes in what became known, without telling anybody yet.
    public mutating func take(_ input: SiteMachine.Input) { machine?.handle(input) }

    /// What is to be told, if it is not what was told last.
    public func change(at now: SteadyMoment) -> SiteStanding? {
        guard let standing = machine?.standing(at: now), standing.essence != told.essence else { return nil }
        return standing
    }

    /// From now on, this is what everybody is told.
    public mutating func tell(_ standing: SiteStanding) { told = standing }
}
