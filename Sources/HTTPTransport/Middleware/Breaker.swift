/// Stops calling a provider that keeps failing, and finds out cautiously when it is back.
///
/// A synchronous machine: it reads no clock and waits for nothing.
///
/// Closed, it lets everything through and remembers the last outcomes. When too many of them are failures it
/// opens: everything is rejected. After a while it is half-open: a few probes may go; if all of them succeed
/// it closes, and if one fails it opens again, for twice as long.
public struct Breaker: Sendable {
    /// When to open, and for how long.
    public struct Settings: Sendable, Equatable {
        /// How many of the last outcomes count.
        ///
        /// At least 1.
        public var window: Int
        /// Fewer outcomes than this never open it.
        public var minimumSamples: Int
        /// It opens when at least this share of the window, in percent, are failures.
        public var failurePercent: Int
        /// How long it stays open the first time.
        public var openFor: Duration
        /// How long it stays open at most, after failed probes.
        public var openForAtMost: Duration
        /// How many probes go at one time, and must all succeed.
        ///
        /// At least 1.
        public var probes: Int

        /// Settings; the defaults suit a provider with a few requests a second.
        public init(
            window: Int = 20, minimumSamples: Int = 10, failurePercent: Int = 50,
            openFor: Duration = .seconds(5), openForAtMost: Duration = .seconds(60), probes: Int = 3
        ) {
            self.window = max(1, window)
            self.minimumSamples = max(1, minimumSamples)
            self.failurePercent = failurePercent
            self.openFor = openFor
            self.openForAtMost = max(openFor, openForAtMost)
            self.probes = max(1, probes)
        }
    }

    /// What a request may do.
    public enum Admission: Sendable, Equatable {
        /// It may go; its outcome is to be recorded with this permit, exactly once.
        case admitted(Permit)
        /// It may not; nothing is admitted before this instant, if that is known.
        case rejected(until: ContinuousClock.Instant?)
    }

    /// Ties an outcome to the state in which its request was admitted, so that an answer from before the
    /// breaker opened says nothing about the provider afterwards.
    public struct Permit: Sendable, Equatable {
        fileprivate let generation: UInt64
    }

    /// What the request showed about the provider.
    public enum Outcome: Sendable, Equatable {
        /// It works.
        case success
        /// It does not.
        case failure
        /// Nothing: the request was cancelled or never left.
        case nothing
    }

    /// The state, for a metric or an operator.
    public enum State: String, Sendable {
        /// Everything goes.
        case closed
        /// Nothing goes.
        case open
        /// Probes go.
        case halfOpen
    }

    private enum Inner: Sendable {
        case closed(outcomes: [Bool], next: Int)
        case open(until: ContinuousClock.Instant)
        case halfOpen(running: Int, succeeded: Int)
    }

    private let settings: Settings
    private var inner = Inner.closed(outcomes: [], next: 0)
    private var generation: UInt64 = 0
    private var openFor: Duration

    /// A closed breaker.
    public init(_ settings: Settings = Settings()) {
        self.settings = settings
        openFor = settings.openFor
    }

    /// The state at this moment.
    ///
    /// An open breaker becomes half-open only when a request asks.
    public var state: State {
        switch inner {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Asks whether a request may go.
    public mutating func admit(now: ContinuousClock.Instant) -> Admission {
        switch inner {
        case .closed:
            return .admitted(Permit(generation: generation))
        case .open(let until):
            guard now >= until else { return .rejected(until: until) }
            generation += 1
            inner = .halfOpen(running: 1, succeeded: 0)
            return .admitted(Permit(generation: generation))
        case .halfOpen(let running, let succeeded):
            guard running + succeeded < settings.probes else { return .rejected(until: nil) }
            inner = .halfOpen(running: running + 1, succeeded: succeeded)
            return .admitted(Permit(generation: generation))
        }
    }

    /// Records what an admitted request showed.
    public mutating func record(_ outcome: Outcome, _ permit: Permit, now: ContinuousClock.Instant) {
        guard permit.generation == generation else { return }
        switch inner {
        case .open:
            return
        case .closed(var outcomes, let next):
            guard outcome != .nothing else { return }
            let failed = outcome == .failure
            if outcomes.count < settings.window { outcomes.append(failed) } else { outcomes[next] = failed }
            inner = .closed(outcomes: outcomes, next: (next + 1) % settings.window)
            let failures = outcomes.count { $0 }
            if outcomes.count >= settings.minimumSamples,
                failures * 100 >= settings.failurePercent * outcomes.count
            {
                openFor = settings.openFor
                open(now: now)
            }
        case .halfOpen(let running, let succeeded):
            switch outcome {
            case .nothing: inner = .halfOpen(running: running - 1, succeeded: succeeded)
            case .failure:
                openFor = min(openFor * 2, settings.openForAtMost)
                open(now: now)
            case .success:
                inner = .halfOpen(running: running - 1, succeeded: succeeded + 1)
                if succeeded + 1 >= settings.probes { close() }
            }
        }
    }

    private mutating func open(now: ContinuousClock.Instant) {
        generation += 1
        inner = .open(until: now + openFor)
    }

    private mutating func close() {
        generation += 1
        openFor = settings.openFor
        inner = .closed(outcomes: [], next: 0)
    }
}
