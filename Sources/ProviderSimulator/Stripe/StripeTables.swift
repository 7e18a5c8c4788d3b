import Foundation
import GRDB

/// Intents, and the answers that are kept under idempotency keys.
///
/// Every function runs inside the caller's database transaction.
struct StripeTables {
    /// How long an answer is replayed (docs.stripe.com/api/idempotent_requests).
    static let keyRetentionMs: Int64 = 86_400_000

    let db: Database
    let provider: String

    static let schema = """
        CREATE TABLE stripe_intents (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            provider TEXT NOT NULL,
            id TEXT NOT NULL,
            transfer_group TEXT,
            document TEXT NOT NULL
        );
        CREATE UNIQUE INDEX stripe_intents_by_id ON stripe_intents (provider, id);
        CREATE INDEX stripe_intents_by_group ON stripe_intents (provider, transfer_group, number);
        CREATE INDEX stripe_intents_newest ON stripe_intents (provider, number);
        CREATE TABLE stripe_keys (
            provider TEXT NOT NULL,
            key TEXT NOT NULL,
            transfer_group TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            status INTEGER NOT NULL,
            body TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (provider, key)
        ) WITHOUT ROWID;
        CREATE INDEX stripe_keys_by_group ON stripe_keys (provider, transfer_group);
        """

    // MARK: Intents

    func intent(_ id: String) throws -> StripeIntent? {
        let statement = try db.cachedStatement(
            sql: "SELECT document FROM stripe_intents WHERE provider = ? AND id = ?")
        return try String.fetchOne(statement, arguments: [provider, id]).map {
            try LedgerJSON.decode(StripeIntent.self, $0)
        }
    }

    /// Newest first; of one group, or all.
    func intents(group: String?, before id: String?, limit: Int) throws -> [StripeIntent] {
        var conditions = "provider = ?"
        var arguments: StatementArguments = [provider]
        if let group {
            conditions += " AND transfer_group = ?"
            arguments += [group]
        }
        if let id {
            conditions += " AND number < (SELECT number FROM stripe_intents WHERE provider = ? AND id = ?)"
            arguments += [provider, id]
        }
        let statement = try db.cachedStatement(
            sql: "SELECT document FROM stripe_intents WHERE \(conditions) ORDER BY number DESC LIMIT ?")
        return try String.fetchAll(statement, arguments: arguments + [limit])
            .map { try LedgerJSON.decode(StripeIntent.self, $0) }
    }

    func save(_ intent: StripeIntent) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO stripe_intents (provider, id, transfer_group, document) VALUES (?, ?, ?, ?)
                ON CONFLICT (provider, id) DO UPDATE SET document = excluded.document
                """)
        try statement.execute(arguments: [
            provider, intent.id, intent.transferGroup, try LedgerJSON.encode(intent),
        ])
    }

    // MARK: Keys

    /// What was answered under a key; nil if nothing was, or if it is too long ago.
    func kept(_ key: String, now: Int64, retentionMs: Int64) throws -> (fingerprint: String, answer: StripeAnswer)? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT fingerprint, status, body FROM stripe_keys
                WHERE provider = ? AND key = ? AND created_at > ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [provider, key, now - retentionMs]) else { return nil }
        return (row["fingerprint"], StripeAnswer(status: row["status"], stored: row["body"]))
    }

    func keep(_ answer: StripeAnswer, of call: StripeCall, group: String, now: Int64) throws {
        guard let key = call.idempotencyKey else { return }
        let statement = try db.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO stripe_keys
                    (provider, key, transfer_group, fingerprint, status, body, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """)
        try statement.execute(arguments: [
            provider, key, group, call.fingerprint, answer.status, answer.text(), now,
        ])
    }

    /// As if the retention had passed.
    func forgetKeys(of group: String) throws {
        let statement = try db.cachedStatement(
            sql: "DELETE FROM stripe_keys WHERE provider = ? AND transfer_group = ?")
        try statement.execute(arguments: [provider, group])
    }
}

/// An answer in Stripe's shapes.
struct StripeAnswer: Sendable, Equatable {
    let status: Int
    /// Nil for one that was stored as text.
    private let value: StripeValue?
    private let stored: String
    /// The key that it names.
    var idempotencyKey: String?
    /// Whether it was given before.
    var isReplay = false

    init(_ status: Int, _ value: StripeValue) {
        self.status = status
        self.value = value
        stored = ""
    }

    init(status: Int, stored: String) {
        self.status = status
        value = nil
        self.stored = stored
    }

    func text(without name: String? = nil) -> String { value?.text(without: name) ?? stored }

    /// An error (docs.stripe.com/api/errors).
    static func error(
        _ status: Int, _ type: String, code: String? = nil, parameter: String? = nil, _ message: String,
        more: [(String, StripeValue)] = []
    ) -> StripeAnswer {
        var members: [(String, StripeValue)] = [("type", .text(type)), ("message", .text(message))]
        if let code { members.append(("code", .text(code))) }
        if let parameter { members.append(("param", .text(parameter))) }
        return StripeAnswer(status, .object([("error", .object(members + more))]))
    }

    static func invalid(_ code: String?, _ message: String, parameter: String? = nil) -> StripeAnswer {
        error(400, "invalid_request_error", code: code, parameter: parameter, message)
    }

    static func missing(_ what: String) -> StripeAnswer {
        error(404, "invalid_request_error", code: "resource_missing", parameter: "id", "No such \(what).")
    }

    /// What the simulator's own problems are in Stripe's words.
    init(_ problem: Problem) {
        switch problem.status {
        case 401: self = .error(401, "invalid_request_error", "Invalid API Key provided.")
        case 404: self = .error(404, "invalid_request_error", "Unrecognized request URL.")
        case 413: self = .invalid(nil, "The body is too large.")
        case 429: self = .error(429, "invalid_request_error", code: "rate_limit", "Too many requests.")
        case 503: self = .error(503, "api_error", "Not available now.")
        default: self = .error(problem.status, "api_error", "Something is wrong at the provider.")
        }
    }
}
