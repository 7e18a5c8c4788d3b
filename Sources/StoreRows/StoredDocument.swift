package import Foundation
internal import PaymentCore
package import Reconciler

/// The JSON in which runs, findings and discrepancies are stored.
package enum StoredDocument {
    private static let decoder = JSONDecoder()

    /// The text of a value.
    package static func encode(_ value: some Encodable) throws(StoreFailure) -> String {
        do {
            return String(decoding: try DocumentEncoder.bytes(of: value), as: UTF8.self)
        } catch {
            throw StoreFailure(coding: error, operation: "encode")
        }
    }

    /// The value of a stored text.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package static func decode<Value: Decodable>(
        _ document: Data, as type: Value.Type = Value.self
    ) throws(StoreFailure) -> Value {
        do {
            return try decoder.decode(Value.self, from: document)
        } catch {
            throw StoreFailure(coding: error, operation: "decode")
        }
    }
}

extension ColumnReader {
    /// The value of a stored document.
    ///
    /// - Throws: ``StoreFailure`` with the code `corrupted`.
    package func document<Value: Decodable>(_ column: Int, as type: Value.Type = Value.self) throws -> Value {
        guard let data = try data(column) else { throw StoreFailure.malformed("a stored document is missing") }
        return try StoredDocument.decode(data)
    }
}
