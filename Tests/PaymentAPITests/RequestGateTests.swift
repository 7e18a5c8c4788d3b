import PaymentCore
import Testing

@testable import PaymentAPI

/// How the places for requests are divided among callers.
@Suite struct RequestGateTests {
    private func caller(_ name: String) throws -> CallerID { try CallerID(name) }

    /// How many places a caller gets at once, and why not more.
    private func taken(_ gate: RequestGate<CallerID>, by caller: CallerID) -> (Int, GateRefusal?) {
        var count = 0
        while count < 1_000 {
            if let refusal = gate.enter(caller) { return (count, refusal) }
            count += 1
        }
        return (count, nil)
    }

    @Test func `one of several callers gets half, and the next one its share of the rest`() throws {
        let gate = RequestGate<CallerID>(limit: 12, senders: 3)
        #expect(taken(gate, by: try caller("shop")) == (6, .shareTaken))
        #expect(taken(gate, by: try caller("kiosk")) == (4, .shareTaken))
        #expect(taken(gate, by: try caller("app")) == (2, .full))
    }

    @Test func `a caller who is alone gets all`() throws {
        let gate = RequestGate<CallerID>(limit: 12, senders: 1)
        #expect(taken(gate, by: try caller("shop")) == (12, .full))
    }

    @Test func `of several places that are taken one comes back at a time`() throws {
        let gate = RequestGate<CallerID>(limit: 4, senders: 1)
        let shop = try caller("shop")
        #expect(taken(gate, by: shop) == (4, .full))
        gate.leave(shop)
        #expect(taken(gate, by: shop) == (1, .full))
        for _ in 0..<4 { gate.leave(shop) }
        #expect(taken(gate, by: shop) == (4, .full))
    }

    @Test func `places come back, and everybody gets at least one`() throws {
        let gate = RequestGate<CallerID>(limit: 1, senders: 5)
        let shop = try caller("shop")
        #expect(taken(gate, by: shop) == (1, .full))
        gate.leave(shop)
        #expect(taken(gate, by: try caller("kiosk")) == (1, .full))
        // One that has nothing gives nothing back.
        gate.leave(shop)
        #expect(gate.enter(shop) == .full)
    }
}
