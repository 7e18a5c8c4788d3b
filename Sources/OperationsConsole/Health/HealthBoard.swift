internal import ServiceLifecycle
internal import Synchronization

/// Runs checks when somebody asks, all at once, each at most once at a time, and remembers what they found
/// for a moment.
///
/// The checks run inside the service and not inside the question: so a check that hangs delays nobody beyond
/// the time limit, and is not started again while it hangs.
final class HealthBoard: Service, Sendable {
    private struct Entry {
        var found: (result: CheckResult, at: ContinuousClock.Instant)?
        var isRunning = false
        var nextWaiter = 0
        var waiters: [Int: AsyncStream<CheckResult>.Continuation] = [:]
    }

    private enum Look {
        case known(CheckResult)
        case wait(id: Int, AsyncStream<CheckResult>)
    }

    private let checks: [HealthCheck]
    private let timeout: Duration
    private let freshness: Duration
    private let entries: Mutex<[Entry]>
    private let orders: AsyncStream<Int>
    private let ordering: AsyncStream<Int>.Continuation

    /// A board over checks.
    /// - Parameters:
    ///   - timeout: How long a question waits for a check.
    ///   - freshness: How long a result is given again without asking.
    init(_ checks: [HealthCheck], timeout: Duration, freshness: Duration) {
        self.checks = checks
        self.timeout = timeout
        self.freshness = freshness
        entries = Mutex(checks.map { _ in Entry() })
        (orders, ordering) = AsyncStream.makeStream(of: Int.self)
    }

    /// Runs what is asked for, until it is cancelled or shut down.
    func run() async throws {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for await index in orders {
                    group.addTask { await self.check(index) }
                }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.ordering.finish()
        }
    }

    /// What every check finds, in their order.
    func results() async -> [NamedResult] {
        let found = await withTaskGroup(of: (Int, CheckResult).self) { group in
            for index in checks.indices {
                group.addTask { (index, await self.result(of: index)) }
            }
            var found: [Int: CheckResult] = [:]
            for await (index, result) in group { found[index] = result }
            return found
        }
        return checks.enumerated().map { index, check in
            NamedResult(name: check.name, result: found[index] ?? .fail("Not asked."))
        }
    }

    private func check(_ index: Int) async {
        let result = await checks[index].check()
        let waiters = entries.withLock { entries in
            let waiters = entries[index].waiters
            entries[index].found = (result, ContinuousClock.now)
            entries[index].isRunning = false
            entries[index].waiters = [:]
            return waiters
        }
        for waiter in waiters.values {
            waiter.yield(result)
            waiter.finish()
        }
    }

    private func result(of index: Int) async -> CheckResult {
        switch look(at: index) {
        case .known(let result): return result
        case .wait(let id, let answers):
            let result = await firstAnswer(answers)
            entries.withLock { $0[index].waiters[id] = nil }
            return result ?? .fail("No answer within \(Int64(timeout / .milliseconds(1))) ms.")
        }
    }

    private func look(at index: Int) -> Look {
        let now = ContinuousClock.now
        let (look, starts) = entries.withLock { entries -> (Look, Bool) in
            if let found = entries[index].found, now - found.at <= freshness {
                return (.known(found.result), false)
            }
            let (answers, waiter) = AsyncStream.makeStream(of: CheckResult.self)
            let id = entries[index].nextWaiter
            entries[index].nextWaiter += 1
            entries[index].waiters[id] = waiter
            let starts = !entries[index].isRunning
            entries[index].isRunning = true
            return (.wait(id: id, answers), starts)
        }
        if starts { ordering.yield(index) }
        return look
    }

    private func firstAnswer(_ answers: AsyncStream<CheckResult>) async -> CheckResult? {
        await withTaskGroup(of: CheckResult?.self) { group in
            group.addTask {
                for await answer in answers { return answer }
                return nil
            }
            group.addTask {
                do {
                    try await Task.sleep(for: self.timeout)
                } catch {
                    // Cancelled: the answer came first.
                }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return first
        }
    }
}
