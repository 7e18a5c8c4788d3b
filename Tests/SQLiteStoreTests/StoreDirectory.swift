internal import Foundation
internal import GRDB
internal import Logging
internal import PaymentCore
internal import SQLiteStore
internal import StoreContract

/// A directory of its own for a test's database, removed at the end.
struct StoreDirectory {
    let url: URL
    var path: String { url.appendingPathComponent("store.sqlite").path }

    /// Lends a new directory.
    static func with<Value>(_ body: (StoreDirectory) async throws -> Value) async throws -> Value {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("sqlite-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        defer {
            do {
                try FileManager.default.removeItem(at: url)
            } catch {
                print("a test directory stays: \(error)")
            }
        }
        return try await body(StoreDirectory(url: url))
    }

    /// Opens the store by a clock.
    func open(
        _ clock: ManualClock, _ change: (inout SQLiteStoreConfiguration) -> Void = { _ in }
    ) throws -> SQLiteStore {
        var configuration = SQLiteStoreConfiguration()
        configuration.clock = { clock.now() }
        configuration.logger.logLevel = .critical
        change(&configuration)
        return try SQLiteStore(path: path, configuration: configuration)
    }

    /// Lends an open store, and closes it.
    func withStore<Value>(
        _ clock: ManualClock = ManualClock(), _ change: (inout SQLiteStoreConfiguration) -> Void = { _ in },
        _ body: (SQLiteStore) async throws -> Value
    ) async throws -> Value {
        let store = try open(clock, change)
        let value: Value
        do {
            value = try await body(store)
        } catch {
            try await store.close()
            throw error
        }
        try await store.close()
        return value
    }

    /// A connection past the store.
    func connection() throws -> DatabaseQueue { try StoreDirectory.connection(path: path) }

    /// A connection past the store.
    static func connection(path: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        // Tests hold the write lock over several calls.
        configuration.allowsUnsafeTransactions = true
        return try DatabaseQueue(path: path, configuration: configuration)
    }
}
