import Testing

@testable import Lab

@Suite struct ComparisonTests {
    @Test func `two sides that agree have no difference`() {
        #expect(Sides().comparison.differences.isEmpty)
        #expect(Sides().comparison.legs == 2)
    }

    @Test func `a second transaction that took money for a leg is charged twice`() {
        var sides = Sides()
        sides.lines.append(Sides.line("card", key: "other", leg: 0, status: "captured", charges: 1, captured: 600))
        #expect(sides.kinds.contains(.chargedTwice))
        #expect(sides.comparison.count(.chargedTwice) == 1)
    }

    @Test func `two charges under one key are charged twice, even if one was given back`() {
        var sides = Sides()
        sides.lines[0] = Sides.line(
            "card", key: "k0", leg: 0, status: "captured", charges: 2, captured: 1_200, refunded: 600)
        #expect(sides.comparison.count(.chargedTwice) == 1)
    }

    @Test func `a second hold that stands for a leg is a difference`() {
        var sides = Sides()
        sides.lines.append(Sides.line("card", key: "other", leg: 0, status: "authorized", held: 600))
        #expect(sides.comparison.count(.booksDiffer) > 0)
        #expect(sides.comparison.count(.chargedTwice) == 0)
    }

    @Test func `an acknowledged payment that cannot be read is lost`() {
        var sides = Sides()
        sides.unreadable = ["pay_1"]
        sides.lines = []
        #expect(sides.kinds == [.lost])
    }

    @Test(arguments: [nil, "pay_unknown"]) func `money of a payment that the books do not know is lost`(
        payment: String?
    ) {
        var sides = Sides()
        sides.lines.append(
            Sides.line("card", key: "x", leg: 0, payment: payment, status: "captured", charges: 1, captured: 5))
        #expect(sides.kinds == [.lost])
    }

    @Test(arguments: ["processing", "canceling", "authorized"]) func `what came to no end is in doubt`(state: String) {
        var sides = Sides()
        sides.payment = Sides.booked(state: state, captured: [600, 400])
        #expect(sides.kinds.contains(.inDoubt))
    }

    @Test func `a refund that came to no end is in doubt`() {
        var sides = Sides()
        sides.payment = Sides.booked(
            state: "succeeded", captured: [600, 400],
            refunds: [.init(state: "processing", legs: [.init(index: 0, state: "processing")])])
        #expect(sides.kinds == [.inDoubt])
    }

    @Test func `a caller without an answer is in doubt`() {
        var sides = Sides()
        sides.memory.isFinished = false
        sides.memory.openRequest = "order-1/cancel: status 500"
        #expect(sides.kinds == [.inDoubt])
        #expect(sides.comparison.differences.first?.theirs.contains("status 500") == true)
    }

    @Test func `a payment held on purpose is not in doubt`() {
        var sides = Sides()
        sides.course = .leaveHeld
        sides.payment = Sides.booked(state: "authorized", captured: [0, 0], legState: "authorized")
        sides.lines = [
            Sides.line("card", key: "k0", leg: 0, status: "authorized", held: 600),
            Sides.line("points", key: "k1", leg: 1, status: "authorized", held: 400),
        ]
        #expect(sides.kinds.isEmpty)
        sides.lines[1] = Sides.line("points", key: "k1", leg: 1, status: "expired")
        #expect(sides.kinds == [.booksDiffer])
    }

    @Test func `a success that was not captured as asked is a difference`() {
        var sides = Sides()
        sides.lines[1] = Sides.line("points", key: "k1", leg: 1, status: "authorized", held: 400)
        #expect(sides.kinds == [.booksDiffer])
        sides.payment = Sides.booked(state: "succeeded", captured: [600, 0])
        #expect(sides.kinds == [.booksDiffer])
    }

    @Test func `a partial capture leaves nothing held and nothing of the other legs`() {
        var sides = Sides()
        sides.course = .capturePart
        sides.payment = Sides.booked(state: "succeeded", captured: [200, 0])
        sides.lines = [
            Sides.line("card", key: "k0", leg: 0, status: "captured", charges: 1, captured: 200),
            Sides.line("points", key: "k1", leg: 1, status: "voided"),
        ]
        #expect(sides.kinds.isEmpty)
    }

    @Test(arguments: ["failed", "canceled"]) func `a hold or a charge that outlives a payment is a difference`(
        state: String
    ) {
        var sides = Sides()
        sides.payment = Sides.booked(state: state, captured: [0, 0], legState: "none")
        sides.lines = []
        #expect(sides.kinds.isEmpty)
        sides.lines = [Sides.line("card", key: "k0", leg: 0, status: "authorized", held: 600)]
        #expect(sides.kinds == [.booksDiffer])
        sides.lines = [Sides.line("card", key: "k0", leg: 0, status: "captured", charges: 1, captured: 600)]
        #expect(sides.kinds == [.booksDiffer])
    }

    @Test func `a refund that only one side knows is a difference`() {
        var sides = Sides()
        sides.payment = Sides.booked(state: "succeeded", captured: [600, 400], refunded: [100, 0])
        #expect(sides.kinds == [.booksDiffer])
        sides.lines[0] = Sides.line(
            "card", key: "k0", leg: 0, status: "captured", charges: 1, captured: 600, refunded: 100)
        #expect(sides.kinds.isEmpty)
    }

    @Test func `a payment that nobody asked for is a difference`() {
        var sides = Sides()
        sides.payment = BookedPayment(
            id: "pay_1", state: "succeeded", reason: nil, amount: DemoAmount(1_000), reference: "stranger",
            legs: sides.payment.legs, refunds: [])
        #expect(sides.kinds == [.booksDiffer])
    }

    @Test func `a final state that changed after the caller was told is a difference`() {
        var sides = Sides()
        sides.memory.settledAs = "failed"
        #expect(sides.kinds == [.booksDiffer])
    }

    @Test func `an effect that was sent under two keys is a difference`() {
        var sides = Sides()
        sides.trail = [
            Sides.event(1, "intent", leg: 0, ["effect": "primary", "key": "k0"]),
            Sides.event(2, "intent", leg: 0, ["effect": "primary", "key": "k0"]),
            Sides.event(3, "intent", leg: 0, ["effect": "capture", "key": "c0"]),
        ]
        #expect(sides.kinds.isEmpty)
        sides.trail.append(Sides.event(4, "intent", leg: 0, ["effect": "primary", "key": "k9"]))
        #expect(sides.kinds == [.booksDiffer])
    }
}

@Suite struct QuarantineTests {
    private var quarantined: Sides {
        var sides = Sides()
        sides.payment = Sides.booked(state: "quarantined", captured: [0, 0], legState: "quarantined")
        sides.lines = []
        return sides
    }

    @Test func `a quarantine that no fault forces is one too many`() {
        #expect(quarantined.kinds == [.needlessQuarantine])
    }

    @Test(arguments: [201, 402]) func `another amount than asked forces a quarantine`(result: Int) {
        var sides = quarantined
        sides.journal = [Sides.request(1, "authorize", fault: "amount_changed", result: result)]
        #expect(sides.kinds.isEmpty)
        #expect(sides.comparison.forced == ["pay_1"])
    }

    @Test func `a replay records no other amount`() {
        var sides = quarantined
        sides.journal = [
            Sides.request(1, "authorize", result: 402),
            Sides.request(2, "authorize", fault: "amount_changed", result: 402),
        ]
        #expect(sides.kinds == [.needlessQuarantine])
    }

    @Test func `other faults force no quarantine`() {
        var sides = quarantined
        sides.journal = [Sides.request(1, "authorize", fault: "response_lost")]
        #expect(sides.kinds == [.needlessQuarantine])
    }
}
