import Foundation
import Testing

@testable import ReconciledClient

/// What the daemon does not do, and what is left of it in the journal.
@Suite final class RefusedOperationTests: Sendable {
    let directory = FileManager.default.temporaryDirectory.appending(path: "reconciled-\(UUID().uuidString)")
    let clock = SkippingClock()
    let journal: DirectoryJournal

    init() throws { journal = try DirectoryJournal(directory) }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func client(_ daemon: ScriptedDaemon, sites: [String] = ["http://east.test"]) -> PaymentsClient {
        PaymentsClient(
            sites: sites.compactMap(URL.init(string:)), token: { "token" }, journal: journal, transport: daemon,
            clock: clock)
    }

    private func pay(_ daemon: ScriptedDaemon, _ value: Int64 = 1_500) async throws -> Payment {
        let amount = Money(value, "JPY")
        let leg = NewPayment.Leg(provider: "card", instrument: "tok-1", amount: amount)
        return try await client(daemon).pay(NewPayment(amount: amount, legs: [leg]), order: "order-731")
    }

    /// The type that it was refused with.
    private func refusal(_ daemon: ScriptedDaemon) async -> String? {
        do {
            _ = try await pay(daemon)
            return nil
        } catch ClientError.refused(let problem) {
            return problem.type
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [
        [ScriptedDaemon.Step.problem(422, "invalid-request")],
        [.problem(503, "not-accepting", retryable: true), .problem(422, "card-number-refused")],
    ]) func `a request that was never recorded is forgotten, so that the mended one may have its key`(
        _ steps: [ScriptedDaemon.Step]
    ) async throws {
        #expect(await refusal(ScriptedDaemon(steps))?.hasPrefix("/problems/") == true)
        #expect(try journal.unfinished().isEmpty)
        let daemon = ScriptedDaemon([.payment("succeeded", amount: 1_600)])
        #expect(try await pay(daemon, 1_600).state == .succeeded)
    }

    @Test func `what may have been recorded stays, whatever is said later`() async throws {
        let daemon = ScriptedDaemon([.lost, .problem(422, "invalid-request")])
        #expect(await refusal(daemon) == "/problems/invalid-request")
        #expect(try journal.unfinished().count == 1)
    }

    @Test(arguments: [(401, "unauthorized"), (403, "forbidden")])
    func `a wrong token says nothing about the request, which stays`(_ status: Int, _ type: String) async throws {
        #expect(await refusal(ScriptedDaemon([.problem(status, type)])) == "/problems/\(type)")
        #expect(try journal.unfinished().count == 1)
        #expect(try await pay(ScriptedDaemon([.payment("succeeded")])).state == .succeeded)
    }

    @Test(arguments: [(422, "idempotency-key-reused"), (410, "idempotency-key-spent"), (409, "too-late")])
    func `a key of which the daemon keeps something is done with`(_ status: Int, _ type: String) async throws {
        #expect(await refusal(ScriptedDaemon([.lost, .problem(status, type)])) == "/problems/\(type)")
        #expect(try journal.unfinished().isEmpty)
    }

    @Test func `the site that is active is asked, if the client was told of it`() async throws {
        let away = ScriptedDaemon.Step.problem(503, "site-not-active", retryable: true, site: "http://west.test/")
        let daemon = ScriptedDaemon([away, .payment("succeeded")])
        let three = ["http://east.test", "http://north.test", "http://west.test"]
        let leg = NewPayment.Leg(provider: "card", instrument: "tok-1", amount: Money(1_500, "JPY"))
        _ = try await client(daemon, sites: three).pay(
            NewPayment(amount: Money(1_500, "JPY"), legs: [leg]), order: "order-731")
        #expect(daemon.requests.map { $0.url.host() } == ["east.test", "west.test"])
    }

    @Test(arguments: [
        ScriptedDaemon.Step.problem(503, "site-not-active", retryable: true, site: "http://elsewhere.test"), .lost,
    ]) func `a token goes to no site but those that were named`(_ step: ScriptedDaemon.Step) async throws {
        let daemon = ScriptedDaemon([step, step, .payment("succeeded")])
        let leg = NewPayment.Leg(provider: "card", instrument: "tok-1", amount: Money(1_500, "JPY"))
        _ = try await client(daemon, sites: ["http://east.test", "http://west.test"]).pay(
            NewPayment(amount: Money(1_500, "JPY"), legs: [leg]), order: "order-731")
        #expect(daemon.requests.map { $0.url.host() } == ["east.test", "west.test", "east.test"])
    }

    @Test func `a task that is canceled ends, and its operation stays`() async throws {
        let daemon = ScriptedDaemon([.lost])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await self.pay(daemon)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try journal.unfinished().count == 1)
    }

    @Test func `the next attempt waits for the one before`() async throws {
        let leg = NewPayment.Leg(provider: "card", instrument: "tok-1", amount: Money(1_500, "JPY"))
        let asked = NewPayment(amount: Money(1_500, "JPY"), legs: [leg])
        let lost = ScriptedDaemon([.lost])
        await #expect(throws: ClientError.self) {
            try await self.client(lost).pay(asked, order: "order-731", within: .zero)
        }
        let daemon = ScriptedDaemon([.payment("failed"), .payment("succeeded")])
        let first = try OperationKey.create(order: "order-731")
        await #expect(throws: ClientError.unsettled(first, last: nil, because: "the next attempt has to wait for it")) {
            try await self.client(daemon).pay(asked, order: "order-731", attempt: 2)
        }
        #expect(daemon.requests.isEmpty)
        #expect(try await client(daemon).pay(asked, order: "order-731").state == .failed)
        #expect(try await client(daemon).pay(asked, order: "order-731", attempt: 2).state == .succeeded)
        #expect(daemon.requests.map { $0.headers["Idempotency-Key"] } == ["order-731/create", "order-731/create-2"])
    }

    @Test(arguments: ["", "pay_1", "pay_../../v1/site", "pay_" + String(repeating: "G", count: 40)])
    func `what names no payment is asked for nowhere`(_ text: String) async throws {
        let daemon = ScriptedDaemon([.payment("succeeded")])
        await #expect(throws: ClientError.invalidPayment(text)) { try await self.client(daemon).payment(text) }
        await #expect(throws: ClientError.invalidPayment(text)) {
            try await self.client(daemon).refund(text, order: "order-731", number: 1)
        }
        #expect(try daemon.requests.isEmpty && journal.unfinished().isEmpty)
    }

    @Test func `reading says what stands in the way`() async throws {
        let lost = client(ScriptedDaemon([.lost]))
        await #expect(throws: ClientError.self) { try await lost.payment(Sample.payment) }
        let daemon = ScriptedDaemon([.problem(404, "not-found")])
        let error = await #expect(throws: ClientError.self) { try await self.client(daemon).payment(Sample.payment) }
        #expect(error.map { "\($0)" } == "the daemon refused it: 404 /problems/not-found: Title")
        let list = ScriptedDaemon([.answer(200, #"{"data": [], "next_cursor": null}"#, [:])])
        #expect(try await client(list).payments(order: "order 731&limit=1").isEmpty)
        #expect(list.requests[0].url.query() == "reference=order%20731%26limit%3D1&limit=200")
    }
}
