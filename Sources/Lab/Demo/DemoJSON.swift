import Foundation

/// JSON as both interfaces write it: members in snake_case.
enum DemoJSON {
    static func encode(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(value)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(bytes))
    }
}

/// An amount, in requests and answers of both sides.
struct DemoAmount: Codable, Sendable, Equatable {
    let value: Int64
    let currency: String

    init(_ value: Int64) {
        self.value = value
        currency = PlannedPayment.currency
    }
}

/// The books: a payment as the daemon shows it to its caller.
struct BookedPayment: Decodable, Sendable {
    struct Reason: Decodable, Sendable {
        let code: String
    }

    struct Leg: Decodable, Sendable {
        let index: Int
        let provider: String
        let amount: DemoAmount
        let state: String
        let captured: DemoAmount
        let refunded: DemoAmount
    }

    struct Refund: Decodable, Sendable {
        struct Part: Decodable, Sendable {
            let index: Int
            let state: String
        }

        let state: String
        let legs: [Part]
    }

    let id: String
    let state: String
    let reason: Reason?
    let amount: DemoAmount
    let reference: String?
    let legs: [Leg]
    let refunds: [Refund]

    var isFinal: Bool { ["succeeded", "canceled", "failed"].contains(state) }
    var isQuarantined: Bool { state == "quarantined" || refunds.contains { $0.state == "quarantined" } }
    var isSettled: Bool {
        (isFinal || state == "authorized" || isQuarantined) && !refunds.contains { $0.state == "processing" }
    }
}

/// The books: one event of a payment's audit trail.
struct BookedEvent: Decodable, Sendable {
    let sequence: Int64
    let type: String
    let leg: Int?
    let detail: [String: String]
    let previousHash: String
    let hash: String
}

/// A page of a listing of either side.
struct DemoPage<Item: Decodable & Sendable>: Decodable, Sendable {
    let data: [Item]
    let nextCursor: String?
}

/// An error of the caller API.
struct ProblemBody: Decodable, Sendable {
    let type: String
    let paymentId: String?
}

/// The ledger: what a provider believes happened to money under one key.
struct LedgerTransaction: Decodable, Sendable {
    struct Movement: Decodable, Sendable {
        let amount: DemoAmount
    }

    let key: String
    let status: String?
    let holds: [Movement]
    let charges: [Movement]
    let refunds: [Movement]
    let net: Int64
    let held: Int64
}

/// The ledger of one provider.
struct LedgerAnswer: Decodable, Sendable {
    let requests: [String: Int]
    let faults: [String: Int]
    let transactions: [LedgerTransaction]
}

/// What callers said of each transaction, by its key.
struct ToldMetadata: Decodable, Sendable {
    let data: [String: [String: String]]
}

/// One request in a provider's journal.
struct JournalLine: Decodable, Sendable {
    let id: Int64
    let operation: String
    let key: String
    let entryKey: String
    let origin: String
    let fault: String?
    let executed: Bool
    let result: Int?
}
