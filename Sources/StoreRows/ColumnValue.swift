package import Foundation
internal import Reconciler

/// A value of a column, the same for every database.
package enum ColumnValue: Sendable, Hashable {
    /// An integer of 64 bits, or NULL.
    case int(Int64?)
    /// A text, or NULL.
    case text(String?)
    /// A truth value, never NULL.
    case flag(Bool)
}

/// A column of a table, by name and kind.
package struct Column: Sendable, Hashable {
    /// The kinds of column.
    package enum Kind: Sendable, Hashable {
        /// An integer of 64 bits.
        case int
        /// A text.
        case text
        /// A truth value.
        case flag
    }

    /// The name.
    package let name: String
    /// The kind.
    package let kind: Kind

    /// A column.
    package init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

/// A row that is written whole: where it goes, and its values in the order of the columns.
package protocol WrittenRow: Sendable {
    /// The table.
    static var table: String { get }
    /// All columns.
    static var columns: [Column] { get }
    /// The names of the columns by which a row is found.
    static var key: [String] { get }
    /// The values, one for each column.
    var values: [ColumnValue] { get }
}

extension WrittenRow {
    /// The names of the columns, with commas between.
    package static var names: String { columns.map(\.name).joined(separator: ", ") }

    /// `SET` of an upsert: everything but the key takes the new value.
    package static var replacement: String {
        columns.filter { !key.contains($0.name) }.map { "\($0.name) = excluded.\($0.name)" }.joined(separator: ", ")
    }
}

/// A row as it was read, by the numbers of its columns.
package protocol ColumnReader {
    /// An integer; `nil` for NULL.
    func int(_ column: Int) throws -> Int64?
    /// A text; `nil` for NULL.
    func text(_ column: Int) throws -> String?
    /// A truth value.
    func flag(_ column: Int) throws -> Bool
    /// The bytes of a text or a blob; `nil` for NULL.
    func data(_ column: Int) throws -> Data?
}

extension ColumnReader {
    /// An integer that is there.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package func number(_ column: Int) throws -> Int64 {
        guard let value = try int(column) else { throw StoreFailure.malformed("a stored number is missing") }
        return value
    }

    /// A text that is there.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package func word(_ column: Int) throws -> String {
        guard let value = try text(column) else { throw StoreFailure.malformed("a stored text is missing") }
        return value
    }

    /// A text that is one of a few words.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package func choice<Value: RawRepresentable>(
        _ column: Int, _ type: Value.Type = Value.self
    ) throws -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: try word(column)) else {
            throw StoreFailure.malformed("a stored word is unknown")
        }
        return value
    }
}

extension StoreFailure {
    /// What is stored is not what was written.
    static func malformed(_ cause: String) -> StoreFailure {
        StoreFailure(.corrupted, operation: "decode", cause: cause)
    }
}
