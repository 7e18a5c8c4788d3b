import Foundation
import PaymentCore
import Providers
import Testing

@testable import Lab
@testable import ReconcileDaemon

@Suite struct FiguresTests {
    @Test func `answers are lost where something was executed and nobody was told`() {
        var sides = Sides()
        sides.journal = [
            Sides.request(1, "authorize", fault: "response_lost"),
            Sides.request(2, "capture", fault: "request_lost", executed: false, result: nil),
            Sides.request(3, "capture", origin: "late", fault: "late_delivery"),
            Sides.request(4, "inquire", fault: "response_lost", result: 200),
            Sides.request(5, "refund"),
        ]
        let figures = DemoFigures(sides.both)
        #expect(figures.answersLost == 2)
        #expect(figures.providerRequests == 4)
        #expect(figures.faultyRequests == 3)
    }

    @Test func `an effect in doubt with one intent was settled without sending again`() {
        var sides = Sides()
        sides.trail = [
            Sides.event(1, "intent", leg: 0, ["effect": "primary"]),
            Sides.event(2, "outcome", leg: 0, ["effect": "primary", "outcome": "indeterminate"]),
            Sides.event(3, "inquiry", leg: 0),
            Sides.event(4, "intent", leg: 1, ["effect": "primary"]),
            Sides.event(5, "claimed", leg: 1, ["effect": "primary"]),
            Sides.event(6, "intent", leg: 1, ["effect": "primary"]),
        ]
        let figures = DemoFigures(sides.both)
        #expect(figures.settledWithoutSendingAgain == 1)
        #expect(figures.sentAgain == 1)
        #expect(figures.leftByKills == 1)
    }

    @Test func `a leg of a payment that failed was rolled back, one of a partial capture was released`() {
        var sides = Sides()
        sides.trail = [Sides.event(1, "decision", leg: 0, ["decision": "gone", "status": "voided"])]
        #expect(DemoFigures(sides.both).rolledBack == 0)
        sides.payment = Sides.booked(state: "failed", captured: [0, 0])
        #expect(DemoFigures(sides.both).rolledBack == 1)
    }

    @Test func `payments are counted by their state, and those with people once more`() {
        var sides = Sides()
        #expect(DemoFigures(sides.both).quarantined == 0)
        sides.payment = Sides.booked(state: "quarantined", captured: [600, 0])
        let figures = DemoFigures(sides.both)
        #expect(figures.quarantined == 1 && figures.payments == ["quarantined": 1])
        #expect(figures.legs == 2 && figures.refunds == 0)
    }

    @Test func `a trail with a gap, a wrong link or no event is broken`() {
        let whole = [Sides.event(1, "created"), Sides.event(2, "latch"), Sides.event(3, "concluded")]
        let moved = BookedEvent(
            sequence: 3, type: "concluded", leg: nil, detail: [:], previousHash: "other", hash: "hash-3")
        let trails = ["whole": whole, "gap": [whole[0], whole[2]], "moved": [whole[0], whole[1], moved], "none": []]
        #expect(DemoFigures.brokenTrails(trails) == ["gap", "moved", "none"])
    }

    @Test func `numbers and times are written for people`() {
        #expect(Words.count(1_234_567) == "1,234,567")
        #expect(Words.count(999) == "999")
        #expect(Words.count(1, "payment") == "1 payment")
        #expect(Words.time(.milliseconds(95)) == "0.10 s")
        #expect(Words.time(.milliseconds(4_321)) == "4.32 s")
        #expect(Words.time(.milliseconds(12_340)) == "12.3 s")
        #expect(Words.time(.seconds(127)) == "2 min 7 s")
    }
}

@Suite struct ConfigurationFileTests {
    @Test(arguments: [true, false], DemoAdapter.allCases)
    func `the daemon accepts the configuration that the demo writes`(
        compressed: Bool, adapter: DemoAdapter
    ) throws {
        let file = DaemonFile(
            database: "books.sqlite", publicPort: 8080, adminPort: 8081, simulatorPort: 8090,
            callerTokenDigest: String(repeating: "a", count: 64), compressed: compressed, adapter: adapter)
        let token = "demo:\(String(repeating: "t", count: 64)):demo"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("demo-\(UUID().uuidString).yaml")
        defer { try? FileManager.default.removeItem(at: path) }
        try Data(file.text.utf8).write(to: path)
        let configuration = try Configuration.load(
            path: path.path,
            environment: [
                "RECONCILED_PROVIDERS_CARD_TOKEN": token, "RECONCILED_PROVIDERS_POINTS_TOKEN": token,
                "RECONCILED_PROVIDERS_BALANCE_TOKEN": token,
            ])
        #expect(configuration.providers.map { "\($0.name)" } == ["card", "points", "balance"])
        let card = adapter == .paypay ? "reference" : adapter.rawValue
        // Nothing is taken in one step at Adyen.
        let balance = adapter == .adyen ? "reference" : adapter.rawValue
        #expect(configuration.providers.map(\.adapter.name) == [card, "reference", balance])
        #expect(configuration.providers.map(\.contract.phases) == [.authorizeCapture, .authorizeCapture, .sale])
        guard case .sqlite("books.sqlite", nil) = configuration.store else {
            Issue.record("the store is \(configuration.store)")
            return
        }
    }
}
