internal import Foundation
internal import GRDB
internal import StoreRows

/// One row of an answer, as long as its cursor stands on it.
struct StoredRow: ColumnReader {
    let row: Row

    init(_ row: Row) { self.row = row }

    func int(_ column: Int) -> Int64? { row[column] }
    func text(_ column: Int) -> String? { row[column] }
    func flag(_ column: Int) -> Bool { row[column] }
    func data(_ column: Int) -> Data? { row[column] }
}

extension Statement {
    /// All rows, one after the other.
    func map<Value>(_ values: [ColumnValue], _ transform: (StoredRow) throws -> Value) throws -> [Value] {
        let rows = try Row.fetchCursor(self, arguments: StatementArguments(values))
        var found: [Value] = []
        while let row = try rows.next() { found.append(try transform(StoredRow(row))) }
        return found
    }

    /// The first row.
    func first<Value>(_ values: [ColumnValue], _ transform: (StoredRow) throws -> Value?) throws -> Value? {
        let rows = try Row.fetchCursor(self, arguments: StatementArguments(values))
        return try rows.next().flatMap { try transform(StoredRow($0)) }
    }
}

extension StatementArguments {
    init(_ values: [ColumnValue]) {
        self.init(
            values.map { value -> (any DatabaseValueConvertible)? in
                switch value {
                case .int(let value): value
                case .text(let value): value
                case .flag(let value): value
                }
            })
    }
}

extension WrittenRow {
    private static var marks: String { columns.map { _ in "?" }.joined(separator: ", ") }

    /// Writes the row in the place of the one that is there.
    func upsert(_ db: Database) throws {
        try db.cachedStatement(sql: Self.upsertWords).execute(arguments: StatementArguments(values))
    }

    /// Writes the row unless there is one; says whether it did.
    func insert(_ db: Database) throws -> Bool {
        try db.cachedStatement(sql: "\(Self.insertWords) DO NOTHING").execute(arguments: StatementArguments(values))
        return db.changesCount > 0
    }

    private static var insertWords: String {
        "INSERT INTO \(table) (\(names)) VALUES (\(marks)) ON CONFLICT (\(key.joined(separator: ", ")))"
    }

    private static var upsertWords: String { "\(insertWords) DO UPDATE SET \(replacement)" }
}
