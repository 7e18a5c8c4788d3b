internal import Foundation
internal import StoreRows

/// One row of an answer.
struct StoredRow: ColumnReader {
    let rows: Rows
    let row: Int

    func int(_ column: Int) throws -> Int64? { try rows.optionalInt(row, column) }
    func text(_ column: Int) throws -> String? { try rows.optionalText(row, column) }
    func flag(_ column: Int) throws -> Bool { try rows.bool(row, column) }
    func data(_ column: Int) throws -> Data? { try rows.optionalData(row, column) }
}

extension Rows {
    /// All rows, one after the other.
    func map<Value>(_ transform: (StoredRow) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(count)
        for row in 0..<count { values.append(try transform(StoredRow(rows: self, row: row))) }
        return values
    }
}

extension Parameter {
    init(_ value: ColumnValue) {
        switch value {
        case .int(let value): self = .int(value)
        case .text(let value): self = .text(value)
        case .flag(let value): self = .bool(value)
        }
    }
}

extension WrittenRow {
    /// The columns of rows as arrays, in order.
    static func arrays(_ rows: [Self]) -> [Parameter] {
        let values = rows.map(\.values)
        return columns.indices.map { column in
            switch columns[column].kind {
            case .int: .ints(values) { $0[column].number }
            case .text: .texts(values) { $0[column].word }
            case .flag: .bools(values) { $0[column].isSet }
            }
        }
    }

    /// `unnest` of the arrays, under the columns' names.
    static var unnested: String { unnested(after: 0, as: "new") }

    /// The same of arrays that come after other parameters.
    static func unnested(after others: Int, as alias: String) -> String {
        let types = columns.enumerated().map { number, column in
            switch column.kind {
            case .int: "$\(others + number + 1)::bigint[]"
            case .text: "$\(others + number + 1)::text[]"
            case .flag: "$\(others + number + 1)::boolean[]"
            }
        }
        return "unnest(\(types.joined(separator: ", "))) AS \(alias) (\(names))"
    }

    /// Writes rows in the place of those that are there.
    static func upsert(_ rows: [Self]) -> Statement {
        Statement(
            """
            INSERT INTO \(table) (\(names)) SELECT * FROM \(unnested)
            ON CONFLICT (\(key.joined(separator: ", "))) DO UPDATE SET \(replacement)
            """, arrays(rows))
    }
}

extension ColumnValue {
    fileprivate var number: Int64? {
        if case .int(let value) = self { return value }
        return nil
    }

    fileprivate var word: String? {
        if case .text(let value) = self { return value }
        return nil
    }

    fileprivate var isSet: Bool { self == .flag(true) }
}
