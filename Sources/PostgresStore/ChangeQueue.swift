internal import Logging
internal import PaymentCore
internal import Reconciler
internal import StoreRows
internal import Synchronization

/// Changes and answers that wait at the same moment share one transaction, one round trip and one flush.
///
/// Nothing is delayed to make a group larger: a group grows while the writers are busy with those before it. A member
/// that cannot be written does not fail the others: the group is refused whole, and whoever the refusal names is then
/// tried alone, the others together again.
final class ChangeQueue: Sendable {
    private enum Member: Sendable {
        case change(PreparedChange, reply: @Sendable (Result<CommitResult, StoreFailure>) -> Void)
        case answer(PreparedAnswer, reply: @Sendable (Result<StoredAnswer, StoreFailure>) -> Void)

        /// What no two of one group may touch.
        var names: [String] {
            switch self {
            case .change(let change, _): [change.id, change.keyPlace, change.answer?.place].compactMap { $0 }
            case .answer(let answer, _): [answer.place]
            }
        }

        func fail(_ failure: StoreFailure) {
            switch self {
            case .change(_, let reply): reply(.failure(failure))
            case .answer(_, let reply): reply(.failure(failure))
            }
        }
    }

    private struct State {
        var members: [(member: Member, since: ContinuousClock.Instant)] = []
        var drains = 0
        var counts = PostgresStore.WriteCounts(transactions: 0, writes: 0)
    }

    private let state = Mutex(State())
    private let inbox: PostgresLane.Inbox
    private let clock: DatabaseClock
    private let confirmation: Confirmation
    private let terms: SiteTerms
    private let configuration: PostgresStoreConfiguration

    init(
        inbox: PostgresLane.Inbox, clock: DatabaseClock, confirmation: Confirmation, terms: SiteTerms,
        configuration: PostgresStoreConfiguration
    ) {
        self.inbox = inbox
        self.clock = clock
        self.confirmation = confirmation
        self.terms = terms
        self.configuration = configuration
    }

    /// What was written since the start.
    var counts: PostgresStore.WriteCounts { state.withLock { $0.counts } }

    /// How many wait for a writer.
    var waiting: Int { state.withLock { $0.members.count } }

    /// Writes a change in the next group.
    func write(_ change: PreparedChange) async throws(StoreFailure) -> CommitResult {
        // Before a connection is looked for: at a standby there is none that writes.
        _ = try terms.check()
        let result = await withCheckedContinuation { continuation in
            add(.change(change) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    /// Keeps an answer in the next group; returns the one that is kept.
    func write(_ answer: PreparedAnswer) async throws(StoreFailure) -> StoredAnswer {
        _ = try terms.check()
        let result = await withCheckedContinuation { continuation in
            add(.answer(answer) { continuation.resume(returning: $0) })
        }
        return try result.get()
    }

    private func add(_ member: Member) {
        let startsDrain = state.withLock { state in
            state.members.append((member, .now))
            guard state.drains < configuration.writers else { return false }
            state.drains += 1
            return true
        }
        if startsDrain { startDrain() }
    }

    private func startDrain() {
        inbox.add(
            PostgresLane.Work(
                perform: { self.drain($0) },
                refuse: { failure in
                    for member in self.takeAll() { member.fail(failure) }
                }))
    }

    /// Everybody who waits learns that there is no connection; each may try again.
    private func takeAll() -> [Member] {
        state.withLock { state in
            defer { state.members.removeAll() }
            state.drains -= 1
            return state.members.map(\.member)
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

    /// Those that waited longest, no payment and no key twice. Who waited too long is told so.
    private func takeGroup() -> [Member] {
        let limit = Duration.milliseconds(configuration.timeLimit.milliseconds)
        let (taken, late) = state.withLock { state in
            var taken: [Member] = []
            var late: [Member] = []
            var left: [(member: Member, since: ContinuousClock.Instant)] = []
            var seen: Set<String> = []
            for (member, since) in state.members {
                let names = member.names
                if .now - since >= limit {
                    late.append(member)
                } else if taken.count < configuration.largestGroup, names.allSatisfy({ !seen.contains($0) }) {
                    seen.formUnion(names)
                    taken.append(member)
                } else {
                    left.append((member, since))
                }
            }
            state.members = left
            if taken.isEmpty { state.drains -= 1 }
            return (taken, late)
        }
        let failure = StoreFailure(.unavailable, operation: "commit", cause: "no connection was free in time")
        for member in late { member.fail(failure) }
        return taken
    }

    private func write(_ group: [Member], _ connection: PostgresConnection) {
        var changes: [PreparedChange] = []
        var answers: [PreparedAnswer] = []
        for member in group {
            switch member {
            case .change(let change, _):
                changes.append(change)
                if let answer = change.answer { answers.append(answer) }
            case .answer(let answer, _): answers.append(answer)
            }
        }
        let term: TermCheck
        do {
            term = try terms.check()
            try confirmation.requireNoneWaiting(connection)
        } catch {
            let failure = StoreFailure(error, "commit", lost: .unavailable)
            for member in group { member.fail(failure) }
            return
        }
        do {
            let statements = ChangeStatements.group(changes, answers, now: clock.parameter, under: term)
            let (rows, warnings) = try connection.run(statements)
            if let failure = ChangeQueue.failure(tag: rows.last?.tag, warnings) {
                if failure.code == .indeterminate { confirmation.isDue() }
                for member in group { member.fail(failure) }
                return
            }
            count(group)
            let kept = try ChangeQueue.kept(answers.isEmpty ? nil : rows.dropLast().last)
            for member in group { acknowledge(member, kept, connection) }
        } catch let error as PostgresError {
            if error.sqlState == PostgresError.termOver { terms.ended(term.epoch) }
            refused(group, error, connection)
        } catch {
            confirmation.isDue(leaving: connection.process)
            let cause = (error as? PostgresConnection.Lost)?.cause ?? "the connection ended before the answer"
            for member in group { member.fail(StoreFailure(.indeterminate, operation: "commit", cause: cause)) }
        }
    }

    /// The places of the answers that were kept.
    private static func kept(_ rows: Rows?) throws -> Set<String> {
        guard let rows else { return [] }
        return Set(try (0..<rows.count).map { try rows.text($0, 0) })
    }

    private func acknowledge(_ member: Member, _ kept: Set<String>, _ connection: PostgresConnection) {
        switch member {
        case .change(let change, let reply): reply(.success(change.result))
        case .answer(let answer, let reply):
            guard !kept.contains(answer.place) else { return reply(.success(answer.answer)) }
            do {
                reply(.success(try answer.earlier(connection)))
            } catch {
                reply(.failure(StoreFailure(error, "store answer", lost: .unavailable)))
            }
        }
    }

    private func count(_ group: [Member]) {
        state.withLock { state in
            state.counts.transactions += 1
            state.counts.writes += Int64(group.count)
        }
    }

    /// What is wrong with a commit that was answered. A transaction that had failed answers with `ROLLBACK`; one that
    /// the standby did not confirm is visible, and may be lost.
    static func failure(tag: String?, _ warnings: [String]) -> StoreFailure? {
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
            let failure = StoreFailure(.unavailable, operation: "commit", cause: "the connection was lost")
            for member in group { member.fail(failure) }
            return
        }
        if error.sqlState == PostgresError.termOver || error.sqlState == PostgresError.promiseBroken {
            // It holds for everybody alike.
            for member in group { member.fail(error.failure("commit")) }
            return
        }
        if error.metNewPartition { return write(group, connection) }
        guard group.count == 1, let member = group.first else {
            let named = Set((error.detail ?? "").split(separator: " ").map(String.init))
            let refused = group.filter { $0.names.contains(where: named.contains) }
            guard error.sqlState == PostgresError.groupRefused, !refused.isEmpty else {
                for member in group { write([member], connection) }
                return
            }
            for member in refused { write([member], connection) }
            let others = group.filter { !$0.names.contains(where: named.contains) }
            if !others.isEmpty { write(others, connection) }
            return
        }
        guard error.sqlState == PostgresError.groupRefused, case .change(let change, let reply) = member else {
            return member.fail(error.failure("commit"))
        }
        do {
            // What it met may be in doubt itself, and is given back as settled.
            try confirmation.settle(connection)
            reply(.success(try Refusal(change, connection).result()))
        } catch {
            // Nothing was written; only why is not known.
            reply(.failure(StoreFailure(error, "commit", lost: .unavailable)))
        }
    }
}
