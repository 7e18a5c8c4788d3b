internal import Foundation
internal import Reconciler

@testable internal import PostgresStore

/// What the server makes of a statement.
enum StatementPlan {
    /// The statements that a session has prepared, with the types of their parameters.
    static func prepared(_ connection: PostgresConnection) throws -> [(sql: String, types: [String])] {
        let rows = try connection.rows(
            "SELECT statement, array_to_string(parameter_types::text[], ',') FROM pg_prepared_statements")
        return try (0..<rows.count).map { row in
            (try rows.text(row, 0), try rows.text(row, 1).split(separator: ",").map { String($0) })
        }
    }

    /// The nodes of its plan; none for what is not planned.
    static func nodes(
        of sql: String, _ types: [String], _ settings: [String], _ configuration: PostgresStoreConfiguration
    ) async throws -> [[String: Any]] {
        let first = sql.split { $0.isWhitespace }.first.map { String($0) } ?? ""
        guard ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains(first) else { return [] }
        let parameters = try types.map { try example(of: $0) }
        let plan = try await RawSession.with(configuration) { session in
            for setting in settings { try await session.run(setting) }
            // Its type is json, and its text the same.
            return try await session.use { connection in
                try connection.rows("EXPLAIN (FORMAT JSON) \(sql)", parameters).data(0, 0)
            }
        }
        return nodes(try JSONSerialization.jsonObject(with: plan))
    }

    private static func nodes(_ value: Any) -> [[String: Any]] {
        if let list = value as? [Any] { return list.flatMap { nodes($0) } }
        guard let node = value as? [String: Any] else { return [] }
        return [node] + ["Plan", "Plans"].flatMap { node[$0].map { nodes($0) } ?? [] }
    }

    private static func example(of type: String) throws -> Parameter {
        switch type {
        case "bigint": .int(1)
        case "text": .text("x")
        case "bytea": .bytes([1])
        case "boolean": .bool(true)
        case "bigint[]": .ints([1])
        case "text[]": .texts(["x"])
        case "bytea[]": .byteStrings([[1]])
        case "boolean[]": .bools([true])
        default: throw StoreFailure(.other, operation: "test", cause: "no example of \(type)")
        }
    }
}
