public import Foundation

/// A request to the daemon.
public struct ClientRequest: Sendable, Hashable {
    /// `GET` or `POST`.
    public let method: String
    /// Where it goes.
    public let url: URL
    /// By their names. They hold the token.
    public let headers: [String: String]
    /// JSON, if there is a body.
    public let body: Data?
    /// After this, there is no answer.
    public let timeLimit: Duration
}

/// The daemon's answer, or what stands between the daemon and the client said instead.
public struct ClientAnswer: Sendable, Hashable {
    /// The status code.
    public let status: Int
    /// By their names in lowercase.
    public let headers: [String: String]
    /// What came, as a whole.
    public let body: Data

    /// An answer; the headers' names may have capitals.
    public init(status: Int, headers: [String: String], body: Data) {
        self.status = status
        self.headers = Dictionary(headers.map { ($0.lowercased(), $1) }) { first, _ in first }
        self.body = body
    }
}

/// Sends one request. Throws if no answer came within its time, which says nothing about what was done.
///
/// It follows no redirection, since the token belongs to the daemon alone, and repeats nothing: the client does. It
/// ends when its task is canceled.
public protocol ClientTransport: Sendable {
    func send(_ request: ClientRequest) async throws -> ClientAnswer
}
