public import PaymentCore
internal import Synchronization

/// What this process may do for its site, for everybody who asks before acting: a lock around ``SiteMachine``, and a
/// steady clock. Asking costs nothing, and is done last before anything leaves.
public final class SiteGate: Sendable {
    private struct State {
        var machine: SiteMachine?
        var told: SiteStanding
        var listeners: [Int: AsyncStream<SiteStanding>.Continuation] = [:]
        var lastListener = 0
    }

    private let state: Mutex<State>
    private let origin = ContinuousClock.now

    /// A gate that is closed until the machine is told that it may open.
    public init(_ settings: SiteMachine.Settings) {
        let machine = SiteMachine(settings)
        state = Mutex(State(machine: machine, told: machine.standing(at: SteadyMoment(milliseconds: 0))))
    }

    private init(told: SiteStanding) { state = Mutex(State(machine: nil, told: told)) }

    /// A gate that is always open: one site, without anybody who could take its place.
    public static func alwaysOpen() -> SiteGate { SiteGate(told: .alone) }

    /// Now, by the steady clock of this process. It goes on while the machine sleeps.
    public var moment: SteadyMoment {
        let passed = (ContinuousClock.now - origin).components
        return SteadyMoment(milliseconds: passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000)
    }

    /// What may be done now.
    public var standing: SiteStanding {
        let now = moment
        return state.withLock { state in
            var standing = state.machine?.standing(at: now) ?? state.told
            // Whoever acts hears of a change at the same moment as who listens, so that nobody is ahead of the other.
            if state.machine != nil, standing.essence != state.told.essence, standing.isActive {
                standing.refusal = .notKnownYet
            }
            return standing
        }
    }

    /// The row that was read last.
    public var row: SiteRow? { state.withLock { $0.machine?.row } }

    /// For how long what there is may go on; `nil` if it may not. Without a limit, the longest span there is.
    public var settlesFor: Span? {
        let standing = standing
        guard standing.maySettle else { return nil }
        guard let until = standing.until else { return Span(milliseconds: .max) }
        let left = until - moment
        return left > .zero ? left : nil
    }

    /// Takes in what became known, without telling anybody yet.
    public func take(_ input: SiteMachine.Input) { state.withLock { $0.machine?.handle(input) } }

    /// What the machine says now, if it is not what was told last.
    func change() -> SiteStanding? {
        let now = moment
        return state.withLock { state in
            guard let standing = state.machine?.standing(at: now) else { return nil }
            return standing.essence == state.told.essence ? nil : standing
        }
    }

    /// From now on, this is what everybody is told.
    func tell(_ standing: SiteStanding) {
        let listeners = state.withLock { state in
            state.told = standing
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(standing) }
    }

    /// What is told, from now on; the newest only.
    public func changes() -> AsyncStream<SiteStanding> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SiteStanding.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            continuation.yield(state.told)
            return state.lastListener
        }
        continuation.onTermination = { _ in _ = self.state.withLock { $0.listeners.removeValue(forKey: number) } }
        return stream
    }
}
