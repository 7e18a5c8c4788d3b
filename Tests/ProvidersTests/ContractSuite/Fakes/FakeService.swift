import Foundation

/// A provider that a test plays: what it does with a request, by books of its own. It knows nothing of the adapter.
///
/// It plays the provider, not the network: ``FaultyWire`` loses, delays, repeats and cuts off for it.
protocol FakeService: Sendable {
    /// One with empty books.
    init()
    /// Which kind of change a request asks for; `nil`: none that it knows.
    func operation(of request: FakeRequest) -> SuiteOperation?
    /// Executes a request.
    ///
    /// - Parameter fault: what only the provider itself can do wrong: `.statusMissing`, `.pending`, `.otherAmount` or
    ///   `.staleReads`; `nil` for nothing.
    mutating func answer(_ request: FakeRequest, suffering fault: SuiteFault?) -> FakeReply
    /// The provider's own words under a status of the wire: 429, 500 or 503.
    func words(for status: Int) -> FakeReply
    /// What is in its books under a key.
    func books(of key: String) -> SuiteBooks
    /// An instrument that is declined, or not known.
    func instrument(_ behaviour: SuiteInstrument) -> String
}

/// A request as it arrived.
struct FakeRequest: Sendable {
    /// Such as `POST`.
    let method: String
    /// The segments below the provider's address, decoded.
    let path: [String]
    /// The value of `Authorization`.
    let authorization: String?
    /// Every header field, by its name in lower case.
    let fields: [String: String]
    let body: [UInt8]

    /// The members of a JSON body; none where it is no object.
    var json: [String: Any] {
        do {
            return try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] ?? [:]
        } catch {
            return [:]
        }
    }
}

/// An answer.
struct FakeReply: Sendable {
    var status: Int
    var contentType = "application/json"
    var body: String
    /// Seconds in `Retry-After`.
    var retryAfter: Int?

    init(_ status: Int, contentType: String = "application/json", _ body: String) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// A JSON object, its members in the order of their names.
    init(_ status: Int, _ object: [String: Any]) {
        do {
            let data = try JSONSerialization.data(withJSONObject: object, options: .sortedKeys)
            self.init(status, String(decoding: data, as: UTF8.self))
        } catch {
            self.init(500, "\(error)")
        }
    }
}

/// What reads show for a while in place of what is: of each key, the next few see what there was before.
///
/// By a count and not by time, so that no test waits. Three are enough for an adapter that reads once or twice within a
/// change.
struct StaleReads<Record: Sendable>: Sendable {
    private static var reads: Int { 3 }
    private var before: [String: (record: Record?, left: Int)] = [:]

    /// From here on reads see what is there now.
    mutating func begin(_ key: String, _ record: Record?) { before[key] = (record, Self.reads) }

    /// What one read sees.
    mutating func read(_ key: String, _ record: Record?) -> Record? {
        guard let stale = before[key] else { return record }
        before[key] = stale.left > 1 ? (stale.record, stale.left - 1) : nil
        return stale.record
    }
}
