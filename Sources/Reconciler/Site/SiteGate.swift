public import PaymentCore
internal import Synchronization

/// What this process may do for its site, for everybody who asks before acting: a lock around ``SiteRight``, and a
/// steady clock. Asking costs nothing, and is done last before anything leaves.
public final class SiteGate: Sendable {
    private struct State {
        var right: SiteRight
        var listeners: [Int: AsyncStream<SiteStanding>.Continuation] = [:]
        var lastListener = 0
    }

    private let state: Mutex<State>
    private let origin = ContinuousClock.now

    /// A gate that is closed until the machine is told that it may open.
    public convenience init(_ settings: SiteMachine.Settings) { self.init(SiteRight(settings)) }

    private init(_ right: SiteRight) { state = Mutex(State(right: right)) }

    /// A gate that is always open: one site, without anybody who could take its place.
    public static func alwaysOpen() -> SiteGate { SiteGate(.alone) }

    /// Now, by the steady clock of this process. It goes on while the machine sleeps.
    public var moment: SteadyMoment {
        let passed = (ContinuousClock.now - origin).components
        return SteadyMoment(milliseconds: passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000)
    }

    /// What may be done now.
    public var standing: SiteStanding {
        let now = moment
        return state.withLock { $0.right.standing(at: now) }
    }

    /// The row that was read last.
    public var row: SiteRow? { state.withLock { $0.right.row } }

    /// For how long what there is may go on; `nil` if it may not. Without a limit, the longest span there is.
    public var settlesFor: Span? {
        let now = moment
        return state.withLock { $0.right.settlesFor(at: now) }
    }

    /// Takes in what became known, without telling anybody yet.
    public func take(_ input: SiteMachine.Input) { state.withLock { $0.right.take(input) } }

    /// Changes what may be done; whoever listens hears of what is told anew.
    func update<Result: Sendable>(_ body: (inout SiteRight, SteadyMoment) -> Result) -> Result {
        let now = moment
        let (result, listeners, told) = state.withLock { state in
            let before = state.right.told
            let result = body(&state.right, now)
            let isTold = state.right.told != before
            return (result, isTold ? Array(state.listeners.values) : [], state.right.told)
        }
        for listener in listeners { listener.yield(told) }
        return result
    }

    /// What is told, from now on; the newest only.
    public func changes() -> AsyncStream<SiteStanding> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: SiteStanding.self, bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            continuation.yield(state.right.told)
            return state.lastListener
        }
        continuation.onTermination = { _ in _ = self.state.withLock { $0.listeners.removeValue(forKey: number) } }
        return stream
    }
}
