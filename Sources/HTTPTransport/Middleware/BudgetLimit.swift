/// Keeps requests within a provider's rate and concurrency, as a ``RequestBudget`` decides.
public final class BudgetLimit: Middleware {
    fileprivate enum Place: Sendable {
        case queued
        case suspended(CheckedContinuation<RequestBudget.Answer, Never>)
        case answered(RequestBudget.Answer)
    }

    fileprivate struct State: Sendable {
        var budget: RequestBudget
        var nextID: UInt64 = 0
        var places: [UInt64: Place] = [:]
    }

    private let settings: RequestBudget.Settings
    private let state: Guarded<State>

    /// One budget; share the middleware between all that call the provider.
    public init(_ settings: RequestBudget.Settings) {
        self.settings = settings
        state = Guarded(State(budget: RequestBudget(settings)))
    }

    /// Waits for room, at most until ``HTTPRequest/startBefore``, and hands the request on.
    ///
    /// - Throws: ``TransportFailure/Code/budgetExhausted`` if there is no room in time,
    ///   ``TransportFailure/Code/cancelled`` if the task is cancelled while it waits.
    public func send(
        _ request: HTTPRequest, next: any HTTPSender
    ) async throws(TransportFailure) -> HTTPResponse {
        let latest = ContinuousClock.now + settings.longestWait
        let until = min(request.startBefore ?? latest, latest)
        let (id, answer) = await room(until: until, request)
        guard case .start(let at) = answer else { throw Self.refusal() }
        defer { tell { $0.release(id, now: .now) } }
        if at > .now {
            do {
                try await ContinuousClock().sleep(until: at)
            } catch {
                throw Self.refusal()
            }
        }
        tell { $0.started(id, now: .now) }
        return try await next.send(request)
    }

    /// How many requests wait now, for operators.
    public var queueLength: Int { state.withLock { $0.budget.queueLength } }

    /// Promises room in time to one more request of this lane that begins something; `false` if there is none.
    public func promise(lane: String) -> Bool { state.withLock { $0.budget.promise(lane: lane, now: .now) } }

    private static func refusal() -> TransportFailure {
        TransportFailure(code: Task.isCancelled ? .cancelled : .budgetExhausted, phase: .waiting)
    }

    /// The number of the request, and the budget's answer, after a wait if need be.
    private func room(
        until: ContinuousClock.Instant, _ request: HTTPRequest
    ) async -> (id: UInt64, answer: RequestBudget.Answer) {
        let (id, answer) = state.withLock { state in
            state.nextID += 1
            let answer = state.budget.ask(
                state.nextID, lane: request.lane, begins: request.begins, now: .now, until: until)
            if answer == .wait { state.places[state.nextID] = .queued }
            return (state.nextID, answer)
        }
        guard answer == .wait else { return (id, answer) }
        // One that made room is told at once.
        tell { $0.advance(now: .now) }
        // Cancelled and awaited when this scope is left, so no timer outlives the wait.
        async let _ = leaveQueue(id, at: until)
        return (id, await queued(id))
    }

    private func queued(_ id: UInt64) async -> RequestBudget.Answer {
        await withCheckedContinuation { continuation in
            let answer: RequestBudget.Answer? = state.withLock { state in
                if case .answered(let answer) = state.places[id] {
                    state.places[id] = nil
                    return answer
                }
                state.places[id] = .suspended(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// Gives up the place in the queue when the time is over or the task is cancelled, whichever is first.
    private func leaveQueue(_ id: UInt64, at until: ContinuousClock.Instant) async {
        do {
            try await ContinuousClock().sleep(until: until)
        } catch {
            // Cancelled: the request has its answer, or its task was cancelled. Abandoning tells them apart.
        }
        let continuation = state.withLock { state in
            state.budget.abandon(id) ? state.settle(id, .refused) : nil
        }
        continuation?.resume(returning: .refused)
    }

    /// Changes the budget, and tells those whom it answers.
    private func tell(_ change: (inout RequestBudget) -> [RequestBudget.Grant]) {
        let answered = state.withLock { state in
            change(&state.budget).compactMap { grant in
                state.settle(grant.id, grant.answer).map { ($0, grant.answer) }
            }
        }
        for (continuation, answer) in answered { continuation.resume(returning: answer) }
    }
}

extension BudgetLimit.State {
    /// Notes the answer, and returns the continuation to resume with it if the request is suspended already.
    fileprivate mutating func settle(
        _ id: UInt64, _ answer: RequestBudget.Answer
    ) -> CheckedContinuation<RequestBudget.Answer, Never>? {
        if case .suspended(let continuation) = places[id] {
            places[id] = nil
            return continuation
        }
        places[id] = .answered(answer)
        return nil
    }
}
