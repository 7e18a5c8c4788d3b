import Foundation
import GRDB

/// A ledger on the disk, read from outside the simulator that writes it.
public enum LedgerFile {
    /// What the providers of a ledger believe happened, in the order of their names.
    /// - Parameters:
    ///   - database: the file's path.
    ///   - provider: only this one; nil: all.
    ///   - key: restricts the reports to this key.
    ///   - summary: leaves the single transactions out.
    public static func reports(
        database: String, provider: String? = nil, key: String? = nil, summary: Bool = false
    ) async throws -> [LedgerReport] {
        guard FileManager.default.fileExists(atPath: database) else {
            throw SimulatorError(.ledgerUnreadable, "no file at \(database)")
        }
        let queue = try LedgerDatabase.openForReading(path: database)
        return try await queue.read { db in
            let reader = LedgerReader(db: db)
            let names = try provider.map { [$0] } ?? reader.providers()
            return try names.map { try reader.report($0, key: key, summary: summary) }
        }
    }
}
