public import PaymentCore

/// Brings a planned run to its end.
public protocol ComparisonExecution: Sendable {
    /// Executes a run, or has it executed.
    ///
    /// - Parameters:
    ///   - run: A planned run.
    ///   - progress: Is told the run whenever it got further.
    /// - Returns: The run; not final if there was not enough time.
    func execute(
        _ run: ComparisonRun, progress: @Sendable (ComparisonRun) -> Void
    ) async throws -> ComparisonRun
}

/// Leaves the work to whichever daemon takes the run up, and watches it in the store.
public struct FollowedComparison: ComparisonExecution {
    private let store: any ComparisonStore
    private let clock: any WallClock
    private let patience: Span
    private let pause: Span

    /// A watch.
    /// - Parameters:
    ///   - store: Where the run is.
    ///   - clock: By which it waits.
    ///   - patience: How long it waits for the run's end.
    ///   - pause: How long it waits between two looks.
    public init(
        store: any ComparisonStore, clock: any WallClock, patience: Span, pause: Span = .milliseconds(500)
    ) {
        self.store = store
        self.clock = clock
        self.patience = patience
        self.pause = pause
    }

    /// Waits until the run is final, or the patience ends.
    public func execute(
        _ run: ComparisonRun, progress: @Sendable (ComparisonRun) -> Void
    ) async throws -> ComparisonRun {
        let deadline = clock.now() + patience
        var seen = run
        while !seen.state.isFinal, clock.now() < deadline {
            try await clock.sleep(until: min(deadline, clock.now() + pause))
            guard let current = try await store.run(run.id) else { return seen }
            if current.version != seen.version { progress(current) }
            seen = current
        }
        return seen
    }
}
