internal import GRDB
internal import Logging
internal import Reconciler
internal import Synchronization

/// Writes that wait at the same moment share one transaction and one flush.
///
/// The first to find the queue idle sets the writer going. It takes what waits, runs each member in a savepoint of its
/// own, commits once, answers all, and looks again. Nothing is delayed to make a group larger: a group grows while the
/// one before it is flushed.
///
/// Members are answered by continuations from the database's own queue, so that a caller that is cancelled takes
/// nothing away from the others.
final class WriteQueue: Sendable {
    /// How much was written, and in how many transactions.
    struct Counts: Sendable {
        var transactions: Int64 = 0
        var writes: Int64 = 0
    }

    /// One write: what it does, and how its caller is told.
    private struct Member: Sendable {
        let perform: @Sendable (Database) throws -> Acknowledgement
        let refuse: @Sendable (StoreFailure) -> Void
        let operation: String
    }

    /// Gives the caller the result of its write, once it is durable.
    private typealias Acknowledgement = @Sendable () -> Void

    private struct Inbox {
        var members: [Member] = []
        var isDraining = false
        var counts = Counts()
    }

    private let pool: DatabasePool
    private let largestGroup: Int
    private let logger: Logger
    private let inbox = Mutex(Inbox())

    init(pool: DatabasePool, largestGroup: Int, logger: Logger) {
        self.pool = pool
        self.largestGroup = max(1, largestGroup)
        self.logger = logger
    }

    /// What was written since the start.
    var counts: Counts { inbox.withLock { $0.counts } }

    /// How many writes wait for the next group.
    var waiting: Int { inbox.withLock { $0.members.count } }
    /// Whether the writer is at work, or about to be.
    var isBusy: Bool { inbox.withLock { $0.isDraining } }

    /// Runs `body` in the next transaction; returns its value once that is durable.
    ///
    /// - Throws: ``StoreFailure``; nothing of `body` was written unless the code is `indeterminate`.
    func write<Value: Sendable>(
        _ operation: String, _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(StoreFailure) -> Value {
        let result: Result<Value, StoreFailure> = await withCheckedContinuation { continuation in
            add(
                Member(
                    perform: { db in
                        let value = try body(db)
                        return { continuation.resume(returning: .success(value)) }
                    },
                    refuse: { continuation.resume(returning: .failure($0)) },
                    operation: operation))
        }
        return try result.get()
    }

    private func add(_ member: Member) {
        let isFirst = inbox.withLock { inbox in
            inbox.members.append(member)
            defer { inbox.isDraining = true }
            return !inbox.isDraining
        }
        if isFirst { pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    /// Runs one group, and comes back if more arrived meanwhile: other work of the writer, such as closing, has its
    /// turn in between.
    private func drain(_ db: Database) {
        var group = takeGroup()[...]
        while !group.isEmpty { group = group.dropFirst(run(group, db)) }
        let isDone = inbox.withLock { inbox in
            inbox.isDraining = !inbox.members.isEmpty
            return inbox.members.isEmpty
        }
        if !isDone { pool.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    /// The members that waited longest.
    private func takeGroup() -> [Member] {
        inbox.withLock { inbox in
            let group = Array(inbox.members.prefix(largestGroup))
            inbox.members.removeFirst(group.count)
            return group
        }
    }

    /// Runs members in one transaction and answers them; returns how many were answered.
    private func run(_ group: ArraySlice<Member>, _ db: Database) -> Int {
        do {
            try db.beginTransaction(.immediate)
        } catch {
            for member in group { member.refuse(StoreFailure(error, operation: member.operation)) }
            return group.count
        }
        var acknowledgements: [(Member, Acknowledgement)] = []
        var answered = 0
        for member in group {
            answered += 1
            do {
                acknowledgements.append((member, try inSavepoint(member, db)))
            } catch {
                let failure = StoreFailure(error, operation: member.operation)
                member.refuse(failure)
                guard !db.isInsideTransaction else { continue }
                // A full disk or a failing one can make SQLite give up the whole transaction.
                for (earlier, _) in acknowledgements { earlier.refuse(failure) }
                return answered
            }
        }
        commit(acknowledgements, db)
        return answered
    }

    private func inSavepoint(_ member: Member, _ db: Database) throws -> Acknowledgement {
        var acknowledgement: Acknowledgement?
        try db.inSavepoint {
            acknowledgement = try member.perform(db)
            return .commit
        }
        guard let acknowledgement else {
            throw StoreFailure(.other, operation: member.operation, cause: "the savepoint was not entered")
        }
        return acknowledgement
    }

    private func commit(_ acknowledgements: [(Member, Acknowledgement)], _ db: Database) {
        do {
            try db.commit()
        } catch {
            let failure = StoreFailure(commit: error)
            do {
                try db.rollback()
            } catch {
                logger.error("a transaction could not be rolled back", metadata: ["error": "\(error)"])
            }
            for (member, _) in acknowledgements { member.refuse(failure) }
            return
        }
        inbox.withLock { inbox in
            inbox.counts.transactions += 1
            inbox.counts.writes += Int64(acknowledgements.count)
        }
        for (_, acknowledge) in acknowledgements { acknowledge() }
    }
}
