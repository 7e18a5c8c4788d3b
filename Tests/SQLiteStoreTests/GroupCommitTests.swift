internal import Foundation
internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Synchronization
internal import Testing

@testable internal import SQLiteStore

@Suite struct GroupCommitTests {
    @Test func `a burst of commits shares transactions`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                let other = try directory.connection()
                try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
                try await withThrowingTaskGroup { group in
                    group.addTask { try await store.probe() }
                    try await poll("the first write waits") { store.queue.isBusy && store.queue.waiting == 0 }
                    for number in 0..<200 {
                        group.addTask { _ = try await it.create(Scenario.Order("k\(number)")) }
                    }
                    try await poll("the burst waits") { store.queue.waiting == 200 }
                    try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
                    try await group.waitForAll()
                }
                #expect(store.writeCounts == SQLiteStore.WriteCounts(transactions: 2, writes: 201))
                try other.close()
            }
        }
    }

    @Test func `a commit alone is a transaction alone`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                for number in 0..<5 { try await it.create(Scenario.Order("k\(number)")) }
                #expect(store.writeCounts == SQLiteStore.WriteCounts(transactions: 5, writes: 5))
            }
        }
    }

    @Test func `no group is larger than the bound`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock, { $0.largestGroup = 4 }) { store in
                let results = try await grouped(store, Array(repeating: .success, count: 16), directory)
                #expect(results.count == 16)
                // The first member was alone; the others came in fours.
                #expect(store.writeCounts.transactions == 5)
            }
        }
    }

    @Test func `a member that fails does not fail its group`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                let results = try await grouped(store, [.success, .constraint, .success, .failure], directory)
                #expect(results == [nil, .other, nil, .full])
                let rows = try await store.pool.read {
                    try Int.fetchAll($0, sql: "SELECT at FROM probe_log ORDER BY at")
                }
                #expect(rows == [0, 2])
                #expect(store.writeCounts.transactions == 2)
            }
        }
    }

    @Test func `a commit that fails fails all of its group`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                // The first commit is that of the member before the group.
                let observer = FailingCommit(number: 2)
                let results = try await grouped(store, [.success, .success, .constraint], directory, observer)
                #expect(results == [.indeterminate, .indeterminate, .other])
                let rows = try await store.pool.read { try Int.fetchAll($0, sql: "SELECT at FROM probe_log") }
                #expect(rows == [])
                try await store.probe()
            }
        }
    }

    @Test func `a caller that is cancelled takes nothing away from the others`() async throws {
        try await StoreDirectory.with { directory in
            let clock = ManualClock()
            try await directory.withStore(clock) { store in
                let it = Scenario(store: store, clock: clock)
                try await withThrowingTaskGroup { group in
                    for number in 0..<50 {
                        group.addTask {
                            withUnsafeCurrentTask { if number % 2 == 0 { $0?.cancel() } }
                            try await it.create(Scenario.Order("k\(number)"))
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(try await store.statistics().paymentsByState == [.processing: 50])
            }
        }
    }

    private enum Member: Sendable {
        case success
        case constraint
        case failure
    }

    /// Makes members wait behind another writer's lock, so that they are one group; gives how each failed.
    private func grouped(
        _ store: SQLiteStore, _ members: [Member], _ directory: StoreDirectory, _ observer: FailingCommit? = nil
    ) async throws -> [StoreFailure.Code?] {
        try await store.pool.write { try $0.execute(sql: "CREATE TABLE probe_log (at INTEGER PRIMARY KEY)") }
        if let observer { store.pool.add(transactionObserver: observer) }
        let other = try directory.connection()
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let results = try await withThrowingTaskGroup(of: (Int, StoreFailure.Code?).self) { group in
            group.addTask {
                try await store.probe()
                return (-1, nil)
            }
            try await poll("the first member waits") { store.queue.isBusy && store.queue.waiting == 0 }
            for (number, member) in members.enumerated() {
                group.addTask { (number, await self.run(member, number, store)) }
                try await poll("member \(number) waits") { store.queue.waiting == number + 1 }
            }
            try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
            return try await group.reduce(into: [Int: StoreFailure.Code?]()) { $0[$1.0] = $1.1 }
        }
        try other.close()
        return members.indices.map { results[$0] ?? nil }
    }

    private func run(_ member: Member, _ number: Int, _ store: SQLiteStore) async -> StoreFailure.Code? {
        do throws(StoreFailure) {
            try await store.queue.write("test") { db in
                try db.execute(sql: "INSERT INTO probe_log (at) VALUES (?)", arguments: [number])
                switch member {
                case .success: break
                case .constraint: try db.execute(sql: "INSERT INTO probe (id, at) VALUES (2, 0)")
                case .failure: throw StoreFailure(.full, operation: "test", cause: "planned")
                }
            }
            return nil
        } catch {
            return error.code
        }
    }
}

/// Lets one commit fail as a flush that fails would.
private final class FailingCommit: TransactionObserver, Sendable {
    private let number: Int
    private let commits = Atomic<Int>(0)

    init(number: Int) { self.number = number }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) {}
    func databaseDidRollback(_ db: Database) {}

    func databaseWillCommit() throws {
        let (_, count) = commits.add(1, ordering: .sequentiallyConsistent)
        if count == number { throw DatabaseError(resultCode: .SQLITE_IOERR, message: "the flush failed") }
    }
}
