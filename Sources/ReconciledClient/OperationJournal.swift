public import Foundation

/// A request that is sent again as it was, until it is answered for good.
public struct StoredOperation: Sendable, Hashable, Codable {
    /// Names it for ever.
    public let key: OperationKey
    /// Where it goes, such as `/v1/payments`.
    public let path: String
    /// The JSON that is sent, each time the same bytes.
    public let body: String
    /// When it was stored.
    public let begunAt: Date

    /// A request as it is sent each time.
    public init(key: OperationKey, path: String, body: String, begunAt: Date) {
        self.key = key
        self.path = path
        self.body = body
        self.begunAt = begunAt
    }
}

/// Where operations are kept before they are sent, so that a process that starts anew sends the same ones.
///
/// ``DirectoryJournal`` keeps files. A shop with a database implements this over a table instead, and writes the row in
/// the transaction of its order. Two processes may use one journal: the daemon takes a repeated request once.
public protocol OperationJournal: Sendable {
    /// Keeps the operation, on the disk once this returns, unless one is kept under its key. Returns the kept one, and
    /// whether it is new.
    func begin(_ operation: StoredOperation) async throws -> (kept: StoredOperation, isNew: Bool)
    /// Notes that it was answered for good. It stays kept: whoever asks again has to send the same.
    func finish(_ key: OperationKey) async throws
    /// Forgets an operation of which the daemon has nothing, so that another may have its key.
    func forget(_ key: OperationKey) async throws
    /// What was begun and not finished, the oldest first.
    func unfinished() async throws -> [StoredOperation]
}
