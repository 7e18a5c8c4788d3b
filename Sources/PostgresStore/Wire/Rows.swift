internal import CLibPQ
internal import Foundation
internal import Reconciler

/// What a statement returned, in binary format. It owns libpq's result.
final class Rows {
    private let result: OpaquePointer
    /// How many rows.
    let count: Int

    /// Takes the result over.
    init(taking result: OpaquePointer) {
        self.result = result
        count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// The command's tag, such as `COMMIT` or `UPDATE 3`.
    var tag: String { PQcmdStatus(result).map { String(cString: $0) } ?? "" }

    private func raw(_ row: Int, _ column: Int) throws -> UnsafeBufferPointer<UInt8>? {
        let (row, column) = (Int32(row), Int32(column))
        guard row < PQntuples(result), column < PQnfields(result) else {
            throw StoreFailure(.other, operation: "decode", cause: "the answer has other columns than were asked for")
        }
        guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else { return nil }
        let length = Int(PQgetlength(result, row, column))
        return UnsafeRawPointer(start).withMemoryRebound(to: UInt8.self, capacity: length) {
            UnsafeBufferPointer(start: $0, count: length)
        }
    }

    /// A `bigint`; nil for NULL.
    func optionalInt(_ row: Int, _ column: Int) throws -> Int64? {
        guard let bytes = try raw(row, column) else { return nil }
        guard bytes.count == 8 else { throw Rows.unexpected("a bigint", bytes.count) }
        return Int64(bigEndian: UnsafeRawBufferPointer(bytes).loadUnaligned(as: Int64.self))
    }

    /// A `text`; nil for NULL.
    func optionalText(_ row: Int, _ column: Int) throws -> String? {
        try raw(row, column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// A `bytea`; nil for NULL.
    func optionalBytes(_ row: Int, _ column: Int) throws -> [UInt8]? { try raw(row, column).map { Array($0) } }

    /// The bytes of a `text` or `bytea`; nil for NULL.
    func optionalData(_ row: Int, _ column: Int) throws -> Data? { try raw(row, column).map { Data($0) } }

    /// The bytes of a `text` or `bytea` that is not NULL.
    func data(_ row: Int, _ column: Int) throws -> Data {
        guard let bytes = try optionalData(row, column) else { throw Rows.unexpected("a text", 0) }
        return bytes
    }

    /// A `boolean`.
    func bool(_ row: Int, _ column: Int) throws -> Bool {
        guard let bytes = try raw(row, column), bytes.count == 1 else { throw Rows.unexpected("a boolean", 0) }
        return bytes[0] != 0
    }

    /// A `bigint` that is not NULL.
    func int(_ row: Int, _ column: Int) throws -> Int64 {
        guard let value = try optionalInt(row, column) else { throw Rows.unexpected("a bigint", 0) }
        return value
    }

    /// A `text` that is not NULL.
    func text(_ row: Int, _ column: Int) throws -> String {
        guard let value = try optionalText(row, column) else { throw Rows.unexpected("a text", 0) }
        return value
    }

    private static func unexpected(_ wanted: String, _ found: Int) -> StoreFailure {
        StoreFailure(.corrupted, operation: "decode", cause: "a column is not \(wanted): \(found) bytes")
    }
}
