import Foundation

/// What the contract answers, before any fault spoils its way back.
struct Answer: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case transaction(TransactionRecord)
        case problem(Problem)
        case page([TransactionRecord], nextCursor: String?)
        case html
    }

    let status: Int
    let content: Content
    var retryAfterSeconds: Int?

    static func transaction(_ status: Int, _ record: TransactionRecord) -> Answer {
        Answer(status: status, content: .transaction(record))
    }

    static func problem(_ problem: Problem, retryAfterSeconds: Int? = nil) -> Answer {
        Answer(status: problem.status, content: .problem(problem), retryAfterSeconds: retryAfterSeconds)
    }

    /// What a proxy puts in front of a provider says when it knows nothing.
    static let html = Answer(status: 200, content: .html)

    var contentType: String {
        switch content {
        case .transaction, .page: "application/json"
        case .problem: "application/problem+json"
        case .html: "text/html; charset=utf-8"
        }
    }

    /// - Parameter omittingStatus: leaves `status` out of every transaction, which is the fault
    ///   `missing_status`.
    func body(omittingStatus: Bool = false) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        switch content {
        case .transaction(let record):
            return try encoder.encode(TransactionView(record: record, omitsStatus: omittingStatus))
        case .problem(let problem):
            return try encoder.encode(problem)
        case .page(let records, let nextCursor):
            let data = records.map { TransactionView(record: $0, omitsStatus: omittingStatus) }
            return try encoder.encode(PageView(data: data, nextCursor: nextCursor))
        case .html:
            return Data("<html><body><h1>Welcome</h1></body></html>\n".utf8)
        }
    }
}

/// A transaction on the wire.
///
/// Members without a value are null, never absent.
struct TransactionView: Encodable {
    let record: TransactionRecord
    var omitsStatus = false

    private enum CodingKeys: String, CodingKey {
        case key, kind, status, amount, captures, refunds, metadata, reason
        case createdAt = "created_at"
        case updatedAt = "updated_at"
        case authorizedUntil = "authorized_until"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(record.key, forKey: .key)
        try container.encode(record.kind, forKey: .kind)
        if !omitsStatus { try container.encode(record.status, forKey: .status) }
        try container.encode(record.amount, forKey: .amount)
        try container.encode(record.captures.map(EntryView.init), forKey: .captures)
        try container.encode(record.refunds.map(EntryView.init), forKey: .refunds)
        try container.encode(record.metadata, forKey: .metadata)
        try container.encode(record.reason, forKey: .reason)
        try container.encode(InstantText.format(record.createdAt), forKey: .createdAt)
        try container.encode(InstantText.format(record.updatedAt), forKey: .updatedAt)
        try container.encode(record.authorizedUntil.map(InstantText.format), forKey: .authorizedUntil)
    }
}

private struct EntryView: Encodable {
    let entry: Entry

    private enum CodingKeys: String, CodingKey {
        case key, amount, status, reason
        case createdAt = "created_at"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(entry.key, forKey: .key)
        try container.encode(entry.amount, forKey: .amount)
        try container.encode(entry.status, forKey: .status)
        try container.encode(entry.reason, forKey: .reason)
        try container.encode(InstantText.format(entry.createdAt), forKey: .createdAt)
    }
}

private struct PageView: Encodable {
    let data: [TransactionView]
    let nextCursor: String?

    private enum CodingKeys: String, CodingKey {
        case data
        case nextCursor = "next_cursor"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(data, forKey: .data)
        try container.encode(nextCursor, forKey: .nextCursor)
    }
}
