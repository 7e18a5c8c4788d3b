import Foundation
import ReconciledClient
import Testing

/// The code of the library's own documentation, so that it compiles and does what the article on paying once says.
@Suite struct PayingOnceTests {
    private let east: URL
    private let west: URL
    private let verifier: WebhookVerifier
    private let orders = Orders()

    init() throws {
        east = try #require(URL(string: "https://east.example"))
        west = try #require(URL(string: "https://west.example"))
        verifier = try WebhookVerifier(secrets: [SigningSecret.old.text])
    }

    private func client(_ directory: URL, _ tokens: Tokens, _ settings: ClientSettings) throws -> PaymentsClient {
        let client = PaymentsClient(
            sites: [east, west], token: { try await tokens.current() }, journal: try DirectoryJournal(directory),
            settings: settings)
        return client
    }

    private func payFirst(_ site: URL, _ token: String, _ directory: URL, _ asked: NewPayment) async throws -> Payment {
        let client = PaymentsClient(
            sites: [site], token: { token }, journal: try DirectoryJournal(directory))
        let payment = try await client.pay(asked, order: "order-731")
        return payment
    }

    func pay(_ order: String, _ asked: NewPayment, with client: PaymentsClient) async throws -> String {
        do {
            let payment = try await client.pay(asked, order: order, within: .seconds(30))
            switch payment.state {
            case .succeeded: return "Paid."
            case .authorized: return "Your order is accepted."
            default: return "You were not charged."
            }
        } catch ClientError.unsettled {
            return "We are confirming your payment."
        }
    }

    private func payAgain(_ order: String, _ asked: NewPayment, _ client: PaymentsClient) async throws -> Payment {
        let second = try await client.pay(asked, order: order, attempt: 2)
        return second
    }

    private func resume(_ client: PaymentsClient, _ report: (String) -> Void) async throws {
        for (operation, result) in try await client.resume(within: .seconds(20)) {
            switch result {
            case .success(.payment(let payment)): try await orders.note(payment)
            case .success(.refund(let refund)): try await orders.note(refund, of: operation.key)
            case .failure(let error): report("\(operation.key): \(error)")
            }
        }
    }

    struct TableJournal: OperationJournal {
        let table: any OperationTable

        func begin(_ operation: StoredOperation) async throws -> (kept: StoredOperation, isNew: Bool) {
            let isNew = try await table.insertUnlessThere(operation)
            return (try await table.operation(operation.key), isNew)
        }
        func finish(_ key: OperationKey) async throws { try await table.markFinished(key) }
        func forget(_ key: OperationKey) async throws { try await table.remove(key) }
        func unfinished() async throws -> [StoredOperation] { try await table.unfinished() }
    }

    private func giveBack(_ payment: Payment, _ order: String, _ client: PaymentsClient) async throws -> Refund {
        let captured = try await client.capture(payment.id, order: order)
        let part = try await client.refund(captured.id, order: order, number: 1, amount: Money(500, "JPY"))
        return part
    }

    func receive(_ headers: [String: String], _ body: Data) async throws -> Int {
        let webhook: PaymentWebhook
        do {
            webhook = try verifier.verify(headers: headers, body: body)
        } catch is WebhookError {
            return 400
        }
        try await orders.note(webhook.payment, by: webhook.id)
        return 204
    }
}

// MARK: What the article says of it

extension PayingOnceTests {
    private static let amount = Money(1500, "JPY")
    private static let asked = NewPayment(
        amount: amount, legs: [NewPayment.Leg(provider: "card", instrument: "tok-1", amount: amount)])

    private func scripted(_ daemon: ScriptedDaemon, _ table: MemoryTable) -> PaymentsClient {
        PaymentsClient(
            sites: [east], token: { "token" }, journal: TableJournal(table: table), transport: daemon,
            clock: SkippingClock())
    }

    @Test func `a client is made of sites, tokens, a journal and settings`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "reconciled-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: directory) }
        _ = try client(directory, Tokens(), ClientSettings())
        #expect(FileManager.default.fileExists(atPath: directory.path))
    }

    @Test(arguments: [
        (ScriptedDaemon.Step.payment("succeeded"), "Paid."), (.payment("authorized"), "Your order is accepted."),
        (.payment("failed"), "You were not charged."), (.lost, "We are confirming your payment."),
    ]) func `what the customer is told`(_ step: ScriptedDaemon.Step, _ told: String) async throws {
        let client = scripted(ScriptedDaemon([step]), MemoryTable())
        #expect(try await pay("order-731", Self.asked, with: client) == told)
    }

    @Test func `a process that is killed goes on under the same key with the same bytes`() async throws {
        let (table, killed) = (MemoryTable(), ScriptedDaemon([.lost]))
        _ = try await pay("order-731", Self.asked, with: scripted(killed, table))
        let daemon = ScriptedDaemon([.payment("succeeded")])
        var reports: [String] = []
        try await resume(scripted(daemon, table)) { reports.append($0) }
        #expect(reports.isEmpty)
        #expect(await orders.payments == [Sample.payment: .succeeded])
        let sent = killed.requests + daemon.requests
        #expect(sent.count > 1)
        #expect(Set(sent.map { $0.headers["Idempotency-Key"] }) == ["order-731/create"])
        #expect(Set(sent.map(\.body)).count == 1)
        #expect(await table.unfinished().isEmpty)
    }

    @Test func `a second attempt waits for the first`() async throws {
        let table = MemoryTable()
        _ = try await pay("order-731", Self.asked, with: scripted(ScriptedDaemon([.lost]), table))
        let daemon = ScriptedDaemon([.payment("succeeded")])
        await #expect(throws: ClientError.self) {
            try await payAgain("order-731", Self.asked, scripted(daemon, table))
        }
        #expect(daemon.requests.isEmpty)
        try await resume(scripted(ScriptedDaemon([.payment("failed")]), table)) { _ in }
        #expect(try await payAgain("order-731", Self.asked, scripted(daemon, table)).state == .succeeded)
        #expect(daemon.requests.map { $0.headers["Idempotency-Key"] } == ["order-731/create-2"])
    }

    @Test func `a capture and a refund have keys of their own`() async throws {
        let refund = ScriptedDaemon.Step.answer(201, ScriptedDaemon.Step.refund("succeeded"), [:])
        let daemon = ScriptedDaemon([.payment("authorized"), .payment("succeeded", 200), refund])
        let client = scripted(daemon, MemoryTable())
        let held = try await client.pay(Self.asked, order: "order-731")
        #expect(try await giveBack(held, "order-731", client).state == .succeeded)
        let keys = daemon.requests.map { $0.headers["Idempotency-Key"] }
        #expect(keys == ["order-731/create", "order-731/capture", "order-731/refund-1"])
    }

    @Test func `a webhook of the daemon is stored, and no other`() async throws {
        let delivery = SignedDelivery(timestamp: String(Int(Date().timeIntervalSince1970)))
        #expect(try await receive(delivery.headers, delivery.body) == 204)
        #expect(await orders.payments == [Sample.payment: .succeeded])
        #expect(try await receive(delivery.headers, Data("{}".utf8)) == 400)
    }

    @Test(arguments: [("PayingOnce", 7), ("ReconciledClient", 1)])
    func `the page has this code and no other`(_ name: String, _ count: Int) throws {
        let tests = URL(filePath: #filePath).deletingLastPathComponent()
        let place = "../../Sources/ReconciledClient/ReconciledClient.docc/\(name).md"
        let page = try String(contentsOf: tests.appending(path: place), encoding: .utf8)
        let code = try String(contentsOfFile: #filePath, encoding: .utf8)
        let blocks = PageCode.blocks(of: page)
        #expect(blocks.count == count)
        for block in blocks { #expect(PageCode.holds(block, in: code), "not compiled here: \(block)") }
    }
}

// MARK: What a shop has

/// A table of a shop's database, with the operations by their keys.
protocol OperationTable: Sendable {
    func insertUnlessThere(_ operation: StoredOperation) async throws -> Bool
    func operation(_ key: OperationKey) async throws -> StoredOperation
    func markFinished(_ key: OperationKey) async throws
    func remove(_ key: OperationKey) async throws
    func unfinished() async throws -> [StoredOperation]
}

private actor MemoryTable: OperationTable {
    private struct Missing: Error {}
    private var rows: [OperationKey: (operation: StoredOperation, isFinished: Bool)] = [:]

    func insertUnlessThere(_ operation: StoredOperation) -> Bool {
        guard rows[operation.key] == nil else { return false }
        rows[operation.key] = (operation, false)
        return true
    }
    func operation(_ key: OperationKey) throws -> StoredOperation {
        guard let row = rows[key] else { throw Missing() }
        return row.operation
    }
    func markFinished(_ key: OperationKey) { rows[key]?.isFinished = true }
    func remove(_ key: OperationKey) { rows[key] = nil }
    func unfinished() -> [StoredOperation] { rows.values.filter { !$0.isFinished }.map(\.operation) }
}

private actor Orders {
    private(set) var payments: [String: PaymentState] = [:]
    private var webhooks: Set<String> = []

    func note(_ payment: Payment) throws { payments[payment.id] = payment.state }
    func note(_ refund: Refund, of key: OperationKey) throws {}
    func note(_ payment: Payment, by webhook: String) throws {
        if webhooks.insert(webhook).inserted { try note(payment) }
    }
}

private struct Tokens {
    func current() async throws -> String { "token" }
}
