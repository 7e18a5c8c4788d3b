import BulkBooks
import Foundation
import HTTPTransport
import PaymentCore
import PostgresStore
import ProviderSimulator
import Reconciler
import SQLiteStore
import Testing

/// A comparison of many payments at one provider, step by step.
struct ComparisonCourse {
    static let provider = "card"

    let world: World
    let order: BulkOrder
    let window: ComparedWindow

    /// Makes the provider's transactions.
    init(world: World, count: Int) async throws {
        self.world = world
        var order = BulkOrder(count: count)
        order.heldEvery = 7
        order.refundedEvery = 5
        order.fromMs = Int64(Date().timeIntervalSince1970 * 1_000) - 3 * 3_600_000
        self.order = try await world.simulator.create(order, at: ComparisonCourse.provider).order
        let from = try #require(self.order.fromMs)
        window = try #require(
            ComparedWindow(
                from: Timestamp(milliseconds: from), to: Timestamp(milliseconds: from + order.overMs + 60_000)))
    }

    /// Writes the books that agree with them. No daemon runs meanwhile.
    func fillBooks(_ store: WorldStore) async throws {
        let books = BulkBooks(
            order: order, provider: try ProviderName(ComparisonCourse.provider), contract: .reference)
        switch store {
        case .sqlite:
            let store = try SQLiteStore(path: world.directory.appendingPathComponent("reconciled.sqlite").path)
            try await books.fill(store)
            try await store.close()
        case .postgres(let dsn, let schema, _):
            var configuration = try PostgresStoreConfiguration(dsn: dsn)
            configuration.schema = schema
            let store = try await PostgresStore(configuration)
            try await books.fill(store)
            await store.close()
        }
    }

    /// Plants differences of every kind; the class that is expected of each key.
    func plant(each: Int) async throws -> [String: ComparisonClass] {
        try await PlantedDifferences(each: each, window: window, store: try await identity()).plant(
            in: world.simulator, at: ComparisonCourse.provider)
    }

    /// The identity of the store, as anybody is told.
    func identity() async throws -> String {
        let status = try await world.command(["site", "status", "--output", "json"])
        let document = try JSONSerialization.jsonObject(with: Data(status.output.utf8)) as? [String: Any]
        return try #require(document?["store"] as? String, "\(status.output)")
    }

    /// How long a run may take.
    var limit: Duration { .seconds(60 + order.count / 100) }

    /// Asks for the run, kills the daemon again and again while it works at it, and waits for its end.
    /// - Returns: the run at its end, and how often it was interrupted between its first and its last step.
    func compareWhileKilling(_ most: Int) async throws -> (run: RunDocument, interrupted: Int) {
        var chance = SystemRandomNumberGenerator()
        var client = operatorsClient(try await world.start())
        let id = try await ask(client)
        var interrupted = 0
        var now = try await run(id, client)
        for _ in 0..<most {
            // A few steps further each time, however fast it is. The next daemon may go on once the lease of the one
            // that was killed has run out.
            let enough = now.steps + Int.random(in: 1...20, using: &chance)
            try await Polling.until("the run gets further", within: limit) {
                now = try await run(id, client)
                return now.finishedAt != nil || now.steps >= enough
            }
            if now.finishedAt != nil { break }
            await world.kill(0)
            interrupted += 1
            client = operatorsClient(try await world.start())
        }
        return (try await end(of: id, client), interrupted)
    }

    /// Compares the window once more.
    func compareAgain() async throws -> RunDocument {
        let client = operatorsClient(try await world.client(of: 0))
        return try await end(of: ask(client, again: true), client)
    }

    private func run(_ id: String, _ client: APIClient) async throws -> RunDocument {
        try await read(client, "/v1/reconciliations/\(id)")
    }

    private func end(of id: String, _ client: APIClient) async throws -> RunDocument {
        var last = try await run(id, client)
        try await Polling.until("the run ends", within: limit) {
            last = try await run(id, client)
            return last.finishedAt != nil
        }
        return last
    }

    /// Plants transactions in the name of this store's payments that our books do not have.
    func plantOrphans(_ count: Int) async throws {
        var order = PlantOrder(.orphan, count: count, seed: 1)
        (order.atMs, order.store) = (window.to.milliseconds - 1_000, try await identity())
        _ = try await world.simulator.plant(order, at: ComparisonCourse.provider)
    }

    /// All discrepancies, those that are closed included.
    func discrepancies() async throws -> [DiscrepancyDocument] {
        try await all("/v1/discrepancies?state=all")
    }

    private func all<Item: Decodable>(_ path: String) async throws -> [Item] {
        let client = operatorsClient(try await world.client(of: 0))
        var (items, cursor) = ([Item](), String?.none)
        repeat {
            let more = cursor.map { (path.contains("?") ? "&" : "?") + "cursor=\($0)" } ?? ""
            let limit = more.isEmpty ? (path.contains("?") ? "&" : "?") + "limit=200" : "&limit=200"
            let page: PageDocument<Item> = try await read(client, path + more + limit)
            items += page.data
            cursor = page.nextCursor
        } while cursor != nil
        return items
    }

    private func operatorsClient(_ client: APIClient) -> APIClient {
        var client = client
        client.token = World.operatorToken
        return client
    }

    private func ask(_ client: APIClient, again: Bool = false) async throws -> String {
        let body = """
            {"provider": "\(ComparisonCourse.provider)", "from": "\(window.from.rfc3339)", \
            "to": "\(window.to.rfc3339)", "again": \(again)}
            """
        let answer = try await client.send(.post, "/v1/reconciliations", body: body, admin: true)
        #expect(answer.status == 202, "\(answer.text)")
        return answer.id
    }

    private func read<Value: Decodable>(_ client: APIClient, _ path: String) async throws -> Value {
        let answer = try await client.send(.get, path, admin: true)
        #expect(answer.status == 200, "\(path): \(answer.text)")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Value.self, from: Data(answer.body))
    }
}

/// A run as the operations API shows it.
struct RunDocument: Decodable {
    struct Counts: Decodable {
        let listed: Int
        let booked: Int
        let unanswered: Int
        let byClass: [String: Int]
    }

    let id: String
    let state: String
    let steps: Int
    let counts: Counts
    let proven: Bool?
    let finishedAt: String?
}

/// A discrepancy as the operations API shows it.
struct DiscrepancyDocument: Decodable {
    struct Subject: Decodable {
        let key: String?
        let currency: String?
    }

    let id: String
    let version: Int64
    let subject: Subject
    let `class`: String
    let state: String
    let closeReason: String?
    let suggestedAction: String
    let payment: String?
}

/// A page as the operations API shows it.
struct PageDocument<Item: Decodable>: Decodable {
    let data: [Item]
    let nextCursor: String?
}
