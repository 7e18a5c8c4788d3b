internal import Logging
internal import PaymentCore
internal import Reconciler
internal import StoreRows
internal import Synchronization

/// Changes that wait at the same moment share one transaction, one round trip and one flush.
///
/// Nothing is delayed to make a group larger: a group grows while the writers are busy with those before it. A member
/// that cannot be written does not fail the others: the group is refused whole, and each is then tried alone.
final class ChangeQueue: Sendable {
    private struct Member: Sendable {
        let change: PreparedChange
        let answer: @Sendable (Result<CommitResult, StoreFailure>) -> Void
    }

    private struct State {
        var members: [Member] = []
        var drains = 0
        var counts = PostgresStore.WriteCounts(transactions: 0, changes: 0)
    }

    private let state = Mutex(State())
    private let inbox: PostgresLane.Inbox
    private let clock: DatabaseClock
    private let confirmation: Confirmation
    private let configuration: PostgresStoreConfiguration

    init(
        inbox: PostgresLane.Inbox, clock: DatabaseClock, confirmation: Confirmation,
        configuration: PostgresStoreConfiguration
    ) {
        self.inbox = inbox
        self.clock = clock
        self.confirmation = confirmation
        self.configuration = configuration
    }

    /// What was written since the start.
    var counts: PostgresStore.WriteCounts { state.withLock { $0.counts } }

    /// Writes a change in the next group.
    func write(_ change: PreparedChange) async throws(StoreFailure) -> CommitResult {
        let result: Result<CommitResult, StoreFailure> = await withCheckedContinuation { continuation in
            let member = Member(change: change) { continuation.resume(returning: $0) }
            let startsDrain = state.withLock { state in
                state.members.append(member)
                guard state.drains < configuration.writers else { return false }
                state.drains += 1
                return true
            }
            if startsDrain { startDrain() }
        }
        return try result.get()
    }

    private func startDrain() {
        inbox.add(
            PostgresLane.Work(
                perform: { self.drain($0) },
                refuse: { failure in
                    for member in self.takeAll() { member.answer(.failure(failure)) }
                }))
    }

    /// Everybody who waits learns that there is no connection; each may try again.
    private func takeAll() -> [Member] {
        state.withLock { state in
            defer { state.members.removeAll() }
            state.drains -= 1
            return state.members
        }
    }

    private func drain(_ connection: PostgresConnection) {
        while !connection.isBroken {
            let group = takeGroup()
            guard !group.isEmpty else { return }
            write(group, connection)
        }
        // The rest is for a new connection.
        let goesOn = state.withLock { state in
            if state.members.isEmpty { state.drains -= 1 }
            return !state.members.isEmpty
        }
        if goesOn { startDrain() }
    }

    /// Those that waited longest, no payment and no key twice.
    private func takeGroup() -> [Member] {
        state.withLock { state in
            var taken: [Member] = []
            var left: [Member] = []
            var seen: Set<String> = []
            for member in state.members {
                let names = [member.change.id] + [member.change.keyPlace].compactMap { $0 }
                if taken.count < configuration.largestGroup, names.allSatisfy({ !seen.contains($0) }) {
                    seen.formUnion(names)
                    taken.append(member)
                } else {
                    left.append(member)
                }
            }
            state.members = left
            if taken.isEmpty { state.drains -= 1 }
            return taken
        }
    }

    private func write(_ group: [Member], _ connection: PostgresConnection) {
        do {
            let statements = ChangeStatements.group(group.map(\.change), now: clock.parameter)
            let (rows, warnings) = try connection.run(statements)
            let failure = ChangeQueue.failure(tag: rows.last?.tag, warnings)
            if failure?.code == .indeterminate { confirmation.isDue() }
            if failure == nil { count(group) }
            for member in group {
                member.answer(failure.map { .failure($0) } ?? .success(member.change.result))
            }
        } catch let error as PostgresError {
            refused(group, error, connection)
        } catch {
            confirmation.isDue()
            let cause = (error as? PostgresConnection.Lost)?.cause ?? "the connection ended before the answer"
            let failure = StoreFailure(.indeterminate, operation: "commit", cause: cause)
            for member in group { member.answer(.failure(failure)) }
        }
    }

    private func count(_ group: [Member]) {
        state.withLock { state in
            state.counts.transactions += 1
            state.counts.changes += Int64(group.count)
        }
    }

    /// What is wrong with a commit that was answered. A transaction that had failed answers with `ROLLBACK`; one that
    /// the standby did not confirm is visible, and may be lost.
    private static func failure(tag: String?, _ warnings: [String]) -> StoreFailure? {
        if tag != "COMMIT" {
            return StoreFailure(.serialization, operation: "commit", cause: "the transaction was rolled back")
        }
        return warnings.first.map { StoreFailure(.indeterminate, operation: "commit", cause: $0) }
    }

    private func refused(_ group: [Member], _ error: PostgresError, _ connection: PostgresConnection) {
        do {
            try connection.run([Statement("ROLLBACK")])
        } catch {
            // The session is gone, and with it the transaction; nothing was committed.
            for member in group {
                member.answer(
                    .failure(StoreFailure(.unavailable, operation: "commit", cause: "the connection was lost")))
            }
            return
        }
        guard group.count == 1, let member = group.first else {
            for member in group { write([member], connection) }
            return
        }
        guard error.sqlState == PostgresError.groupRefused else {
            return member.answer(.failure(error.failure("commit")))
        }
        do {
            member.answer(.success(try Refusal(member.change, connection).result()))
        } catch {
            // Nothing was written; only why is not known.
            member.answer(.failure(StoreFailure(error, "commit", lost: .unavailable)))
        }
    }
}
