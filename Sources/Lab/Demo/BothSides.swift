import Foundation
import HTTPTransport
import ProgramEdge

/// What both sides say at the end, as it was read over their interfaces.
struct BothSides: Sendable {
    /// One transaction of a provider, with the payment and leg that its own metadata name.
    struct Line: Sendable {
        let provider: String
        let key: String
        /// The daemon's payment, as the provider was told; nil where it was told nothing.
        let payment: String?
        let leg: Int?
        let status: String?
        /// How often money was taken.
        let charges: Int
        let captured: Int64
        let refunded: Int64
        let held: Int64

        var movesMoney: Bool { charges > 0 || held > 0 }
    }

    /// One request to a provider, with the payment that it was about.
    struct Request: Sendable {
        let provider: String
        let line: JournalLine
        let payment: String?
    }

    /// The books.
    var payments: [BookedPayment] = []
    /// The books' audit trails, by payment.
    var trails: [String: [BookedEvent]] = [:]
    /// The providers' ledgers.
    var ledger: [Line] = []
    /// The providers' journals.
    var journal: [Request] = []
    /// Acknowledged payments that the daemon does not show any more.
    var unreadable: [String] = []
}

/// Reads both sides: the daemon over its caller API, the providers over the simulator's ledger.
struct SidesReader: Sendable {
    let client: CallerClient
    let sender: any HTTPSender
    let simulator: String
    let providerToken: String

    /// Every payment of the caller.
    func payments(state: String? = nil) async throws -> [BookedPayment] {
        let filter = state.map { "&state=\($0)" } ?? ""
        var payments: [BookedPayment] = []
        var cursor: String?
        repeat {
            let cursorQuery = cursor.map { "&cursor=\($0)" } ?? ""
            let page = try await client.get(
                "/v1/payments?limit=200\(filter)\(cursorQuery)", as: DemoPage<BookedPayment>.self)
            payments += page?.data ?? []
            cursor = page?.nextCursor
        } while cursor != nil
        return payments
    }

    /// Everything.
    /// - Parameter acknowledged: the payments that the caller was promised.
    func read(acknowledged: [String]) async throws -> BothSides {
        var sides = BothSides()
        sides.payments = try await payments()
        let listed = Set(sides.payments.map(\.id))
        for id in acknowledged where !listed.contains(id) {
            // Perhaps only the listing lacks it.
            if let payment = try await client.get("/v1/payments/\(id)", as: BookedPayment.self) {
                sides.payments.append(payment)
            } else {
                sides.unreadable.append(id)
            }
        }
        sides.trails = try await trails(of: sides.payments.map(\.id))
        for provider in DemoProvider.allCases { try await read(provider.rawValue, into: &sides) }
        return sides
    }

    private func trails(of ids: [String]) async throws -> [String: [BookedEvent]] {
        try await withThrowingTaskGroup(of: (String, [BookedEvent]).self) { group in
            var rest = ids.makeIterator()
            var trails: [String: [BookedEvent]] = [:]
            for _ in 0..<16 {
                if let id = rest.next() { group.addTask { (id, try await trail(of: id)) } }
            }
            for try await (id, trail) in group {
                trails[id] = trail
                if let next = rest.next() { group.addTask { (next, try await self.trail(of: next)) } }
            }
            return trails
        }
    }

    private func trail(of id: String) async throws -> [BookedEvent] {
        var events: [BookedEvent] = []
        var cursor: String?
        repeat {
            let cursorQuery = cursor.map { "&cursor=\($0)" } ?? ""
            let page = try await client.get(
                "/v1/payments/\(id)/events?limit=200\(cursorQuery)", as: DemoPage<BookedEvent>.self)
            events += page?.data ?? []
            cursor = page?.nextCursor
        } while cursor != nil
        return events
    }

    private func read(_ provider: String, into sides: inout BothSides) async throws {
        let owners = try await owners(provider)
        let answer = try await fetch("/_control/\(provider)/ledger", as: LedgerAnswer.self)
        sides.ledger += answer.transactions.map { transaction in
            let owner = owners[transaction.key]
            let captured = transaction.charges.reduce(0) { $0 + $1.amount.value }
            return BothSides.Line(
                provider: provider, key: transaction.key, payment: owner?["payment"],
                leg: owner?["leg"].flatMap(Int.init), status: transaction.status,
                charges: transaction.charges.count, captured: captured, refunded: captured - transaction.net,
                held: transaction.held)
        }
        var after: Int64 = 0
        while true {
            let page = try await fetch(
                "/_control/\(provider)/journal?after=\(after)&limit=10000", as: DemoPage<JournalLine>.self)
            sides.journal += page.data.map { line in
                BothSides.Request(provider: provider, line: line, payment: owners[line.key]?["payment"])
            }
            guard let last = page.data.last else { return }
            after = last.id
        }
    }

    /// Whose each transaction is, by the metadata that the provider was told. The ledger says so. A list may be stale.
    private func owners(_ provider: String) async throws -> [String: [String: String]] {
        let told = try await fetch("/_control/\(provider)/metadata", as: ToldMetadata.self)
        return told.data.mapValues { metadata in
            // At Stripe their names begin with ours, because others may use the account too.
            let ours = metadata.map { ($0.key.replacing("reconciled_", with: ""), $0.value) }
            return Dictionary(ours, uniquingKeysWith: { first, _ in first })
        }
    }

    private func fetch<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value {
        let request = HTTPRequest(
            method: .get, url: simulator + path, fields: HTTPFields([("Authorization", "Bearer \(providerToken)")]),
            limits: TimeLimits(firstByte: .seconds(30), total: .seconds(60)), maximumResponseBytes: 1 << 28,
            label: "ledger")
        let answer = try await sender.send(request)
        guard answer.status == 200 else {
            throw CommandFailure(.unavailable, "the simulator answered \(answer.status) to \(path)")
        }
        return try DemoJSON.decode(type, answer.body)
    }
}
