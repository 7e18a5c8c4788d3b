internal import Foundation
internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import SQLiteStore
internal import StoreContract
internal import Testing

@Suite struct OpeningTests {
    private func failure(_ directory: StoreDirectory) -> StoreFailure? {
        #expect(throws: StoreFailure.self) { try directory.open(ManualClock()) }
    }

    @Test func `a file that is not there becomes a store, and stays one`() async throws {
        try await StoreDirectory.with { directory in
            for _ in 0..<3 { try await directory.withStore { try await $0.probe() } }
            let connection = try directory.connection()
            let found = try await connection.read { db in
                (
                    try Int.fetchOne(db, sql: "PRAGMA user_version"),
                    try Int.fetchOne(db, sql: "PRAGMA application_id"),
                    try String.fetchOne(db, sql: "PRAGMA journal_mode")
                )
            }
            #expect(found == (8, 0x5243_4E44, "wal"))
        }
    }

    @Test func `a file that was emptied is refused, and left as it is`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { try await $0.probe() }
            try Data().write(to: URL(fileURLWithPath: directory.path))
            let words = try #require(failure(directory)).description
            #expect(words.contains("\(directory.path) is empty, and what it held is not there"), "\(words)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path)).isEmpty)
        }
    }

    @Test func `a file that is gone while its log is there is refused`() async throws {
        try await StoreDirectory.with { directory in
            let store = try directory.open(ManualClock())
            try await store.probe()
            try FileManager.default.removeItem(atPath: directory.path)
            let words = try #require(failure(directory)).description
            #expect(words.contains("\(directory.path) is missing"), "\(words)")
            try await store.close()
        }
    }

    @Test func `a store knows since when it is there, whoever opens it`() async throws {
        try await StoreDirectory.with { directory in
            let before = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000) - 1)
            let first = try await directory.withStore { try await $0.siteReading().row.term?.since }
            let since = try #require(first)
            #expect(since >= before && since <= before + .minutes(1))
            let clock = ManualClock()
            clock.advance(by: .days(30))
            #expect(try await directory.withStore(clock) { try await $0.siteReading().row.term?.since } == since)
        }
    }

    @Test func `the file that a daemon closed is the whole store`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore(ManualClock(), { $0.isDaemon = true }) { try await $0.probe() }
            let copy = directory.url.appendingPathComponent("copy.sqlite").path
            try FileManager.default.copyItem(atPath: directory.path, toPath: copy)
            let found = try await StoreDirectory.connection(path: copy).read { db in
                try Int.fetchOne(db, sql: "SELECT count(*) FROM probe")
            }
            #expect(found == 1)
            #expect(try FileManager.default.attributesOfItem(atPath: directory.path + "-wal")[.size] as? Int ?? 0 == 0)
        }
    }

    @Test func `a second daemon on one file is refused with the file's name and what to do`() async throws {
        try await StoreDirectory.with { directory in
            let first = try directory.open(ManualClock()) { $0.isDaemon = true }
            let failure = #expect(throws: StoreFailure.self) {
                try directory.open(ManualClock()) { $0.isDaemon = true }
            }
            let words = try #require(failure).cause
            #expect(failure?.code == .busy)
            #expect(words.contains("(process \(getpid())) works on \(directory.path)"), "\(words)")
            #expect(words.contains("stop it, or give this one a file of its own"))
            // Commands work beside it.
            try await directory.withStore { store in
                try await store.probe()
                #expect(try await store.payments(PaymentQuery()).items.isEmpty)
            }
            try await first.probe()
            try await first.close()
            try await directory.withStore { try await $0.probe() }
            let next = try directory.open(ManualClock()) { $0.isDaemon = true }
            try await next.close()
        }
    }

    @Test func `what a daemon left behind that was killed keeps nobody out`() async throws {
        try await StoreDirectory.with { directory in
            // The file stays, with the number of a process that may be anybody's by now.
            try Data("1\n".utf8).write(to: URL(fileURLWithPath: directory.path + "-daemon"))
            let store = try directory.open(ManualClock()) { $0.isDaemon = true }
            try await store.probe()
            try await store.close()
        }
    }

    @Test func `nobody else may read the file and its log`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { store in
                try await store.probe()
                for suffix in ["", "-wal", "-shm"] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: directory.path + suffix)
                    #expect(attributes[.posixPermissions] as? Int == 0o600)
                }
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: directory.path)
            try await directory.withStore { _ in
                let attributes = try FileManager.default.attributesOfItem(atPath: directory.path)
                #expect(attributes[.posixPermissions] as? Int == 0o600)
            }
        }
    }

    @Test func `a file of a newer version is refused`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { try await $0.probe() }
            try await directory.connection().write { try $0.execute(sql: "PRAGMA user_version = 99") }
            let failure = failure(directory)
            #expect(failure?.code == .incompatible)
            #expect(failure?.cause.contains("schema 99 of a newer version") == true)
        }
    }

    @Test func `the database of another program is refused and left as it is`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.connection().write { db in
                try db.execute(sql: "CREATE TABLE songs (name TEXT); PRAGMA application_id = 7")
            }
            let before = try Data(contentsOf: URL(fileURLWithPath: directory.path))
            let failure = failure(directory)
            #expect(failure?.code == .incompatible)
            #expect(failure?.cause.contains("another program (application id 7") == true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path)) == before)
        }
    }

    @Test func `a database without a mark that is not empty is refused`() async throws {
        try await StoreDirectory.with { directory in
            try await directory.connection().write { try $0.execute(sql: "CREATE TABLE songs (name TEXT)") }
            #expect(failure(directory)?.code == .incompatible)
        }
    }

    @Test func `a file that is no database is refused and left as it is`() async throws {
        try await StoreDirectory.with { directory in
            let content = Data(String(repeating: "not a database\n", count: 500).utf8)
            try content.write(to: URL(fileURLWithPath: directory.path))
            let failure = failure(directory)
            #expect(failure?.code == .corrupted, "\(String(describing: failure))")
            #expect(failure?.cause.contains("not a database") == true)
            #expect(try Data(contentsOf: URL(fileURLWithPath: directory.path)) == content)
        }
    }

    @Test(arguments: [
        "DROP TRIGGER events_are_not_deleted", "DROP INDEX payments_due", "CREATE TABLE extra (a TEXT)",
        "ALTER TABLE legs ADD COLUMN note TEXT",
    ])
    func `a schema that was changed by hand is refused`(_ change: String) async throws {
        try await StoreDirectory.with { directory in
            try await directory.withStore { try await $0.probe() }
            try await directory.connection().write { try $0.execute(sql: change) }
            let failure = failure(directory)
            #expect(failure?.code == .incompatible)
            #expect(failure?.cause.contains("changed by hand") == true)
        }
    }

    @Test func `a directory that is not there cannot hold a store`() async throws {
        try await StoreDirectory.with { directory in
            let path = directory.path + "/missing/store.sqlite"
            let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(path: path) }
            #expect(failure?.code == .unavailable)
        }
    }

    @Test func `a closed store does nothing more`() async throws {
        try await StoreDirectory.with { directory in
            let store = try directory.open(ManualClock())
            try await store.close()
            let written = await #expect(throws: StoreFailure.self) { try await store.probe() }
            let read = await #expect(throws: StoreFailure.self) { try await store.nextDue(in: .everywhere) }
            #expect([written?.code, read?.code] == [.unavailable, .unavailable])
        }
    }
}
