import Foundation
import ProviderSimulator
import Testing

/// Faults of the way to the provider and back: what the caller sees, and what really happened.
@Suite struct AnswerFaultTests {
    typealias F = SimulatorFixture

    @Test func `a lost request closes the connection and does nothing`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.requestLost), .authorize)
            #expect(try await card.pay() == .nothing)
            #expect(try await card.inquire().status == 404)
            #expect(try await card.pay().status == 201)
        }
    }

    @Test func `a lost response closes the connection after the work was done`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.responseLost), .sale)
            #expect(try await card.pay(kind: "sale") == .nothing)
            #expect(try await card.ledger().charges.count == 1)
            #expect(try await card.pay(kind: "sale").status == 200)
            #expect(try await card.ledger().charges.count == 1)
        }
    }

    @Test func `a connection can be held before it is closed`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.responseLost)
            fault.holdMs = 60_000
            try card.order(fault, .authorize)
            var impatient = card
            impatient.timeoutMs = 200
            #expect(try await impatient.pay() == .silence)
            try await card.eventually { try await card.control.ledger("card").totals.map(\.held) == [1200] }
        }
    }

    @Test func `a slow provider executes before its wait`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.slow)
            fault.delayMs = 60_000
            try card.order(fault, .authorize)
            var impatient = card
            impatient.timeoutMs = 200
            #expect(try await impatient.pay() == .silence)
            try await card.eventually { try await card.inquire().status == 200 }
            let journal = try await card.control.journal("card", key: F.key, operation: .authorize)
            #expect(journal.map(\.executed) == [true])
        }
    }

    @Test func `a slow provider can execute after the caller has given up`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.slow)
            fault.delayMs = 2000
            fault.execute = .after
            try card.order(fault, .authorize)
            var impatient = card
            impatient.timeoutMs = 100
            #expect(try await impatient.pay() == .silence)
            #expect(try await card.inquire().status == 404)
            try await card.eventually { try await card.inquire().status == 200 }
            let journal = try await card.control.journal("card", key: F.key, operation: .authorize)
            #expect(journal.map(\.origin) == [.client, .delayed])
            #expect(journal.map(\.executed) == [false, true])
        }
    }

    @Test func `a slow answer does arrive in the end`() async throws {
        try await withSimulator { card async throws in
            var fault = Fault(.slow)
            fault.delayMs = 150
            try card.order(fault)
            let start = ContinuousClock.now
            #expect(try await card.pay().status == 201)
            #expect(ContinuousClock.now - start >= .milliseconds(150))
        }
    }

    @Test func `the same error hides nothing done and everything done`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.errorBefore))
            #expect(try await card.pay().status == 500)
            #expect(try await card.inquire().status == 404)
            try card.order(Fault(.errorAfter))
            #expect(try await card.pay().status == 500)
            #expect(try await card.inquire().status == 200)
        }
    }

    @Test func `a page of HTML with status 200 hides what was done`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.html))
            guard case .answer(let status, let headers, let body) = try await card.pay() else {
                Issue.record("no answer")
                return
            }
            #expect(status == 200)
            #expect(headers["content-type"] == "text/html; charset=utf-8")
            #expect(body.starts(with: Data("<html>".utf8)))
            #expect(try await card.ledger().holds.count == 1)
        }
    }

    @Test func `a truncated answer ends before its announced length`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.truncated))
            guard case .brokenOff(let received) = try await card.pay() else {
                Issue.record("not broken off")
                return
            }
            let text = String(decoding: received, as: UTF8.self)
            let whole = try await card.inquire()
            guard case .answer(_, _, let body) = whole else {
                Issue.record("no answer")
                return
            }
            #expect(text.contains("HTTP/1.1 201"))
            #expect(text.contains("Content-Length: \(body.count)\r\n"))
            #expect(text.hasSuffix(String(decoding: body.prefix(body.count / 2), as: UTF8.self)))
        }
    }

    @Test func `an answer can lack its status`() async throws {
        try await withSimulator { card async throws in
            try card.order(Fault(.missingStatus), .authorize)
            let shown = try await card.pay().transaction()
            #expect(shown.status == nil && shown.key == F.key)
            #expect(try await card.inquire().transaction().status == "authorized")
        }
    }

    @Test(arguments: [(FaultKind.throttled, 429), (.unavailable, 503)])
    func `a refusal for lack of capacity says when to come back and does nothing`(
        kind: FaultKind, status: Int
    )
        async throws
    {
        try await withSimulator { card async throws in
            var fault = Fault(kind)
            fault.retryAfter = 7
            try card.order(fault)
            guard case .answer(let answered, let headers, _) = try await card.pay() else {
                Issue.record("no answer")
                return
            }
            #expect(answered == status)
            #expect(headers["retry-after"] == "7")
            #expect(try await card.inquire().status == 404)
        }
    }

    @Test func `a provider that is down closes every connection until it is up`() async throws {
        try await withSimulator { card async throws in
            try card.control.takeDown("card", forMs: 1000)
            #expect(try await card.pay() == .nothing)
            #expect(try await card.inquire() == .nothing)
            var points = card
            points.provider = "points"
            #expect(try await points.pay().status == 201)
            try card.control.takeDown("card", forMs: 1000, mode: .unavailable)
            #expect(try await card.pay().status == 503)
            card.clock.advance(1000)
            #expect(try await card.pay().status == 201)
            #expect(try await card.control.ledger("card").faults == ["down": 3])
        }
    }

    @Test(arguments: [Operation.capture, .void, .refund, .inquire, .list, .inquireCapture, .inquireRefund])
    func `an answer can be lost on every route`(operation: ProviderSimulator.Operation) async throws {
        try await withSimulator { card async throws in
            _ = try await card.pay()
            if operation != .void { _ = try await card.capture() }
            if operation == .inquireRefund { _ = try await card.refund() }
            try card.order(Fault(.responseLost), operation)
            let path = "/card/transactions"
            let reply: Reply
            switch operation {
            case .capture: reply = try await card.capture()
            case .void: reply = try await card.void()
            case .refund: reply = try await card.refund()
            case .inquire: reply = try await card.inquire()
            case .list: reply = try await card.request("GET", path)
            case .inquireCapture:
                reply = try await card.request("GET", "\(path)/\(F.key)/captures/\(F.captureKey)")
            default: reply = try await card.request("GET", "\(path)/\(F.key)/refunds/\(F.refundKey)")
            }
            #expect(reply == .nothing)
            let lost = try await card.control.journal("card").filter { $0.fault == .responseLost }
            #expect(lost.map(\.operation) == [operation])
            #expect(lost.map(\.executed) == [true] && lost.map(\.status) == [nil])
        }
    }
}
