@testable import Lab

/// Both sides of one payment of two legs, as they agree; tests change one thing.
struct Sides {
    var payment = Sides.booked(state: "succeeded", captured: [600, 400])
    var lines = [
        Sides.line("card", key: "k0", leg: 0, status: "captured", charges: 1, captured: 600),
        Sides.line("points", key: "k1", leg: 1, status: "captured", charges: 1, captured: 400),
    ]
    var course = PlannedPayment.Course.pay
    var memory = CallerMemory(id: "pay_1", isAcknowledged: true, settledAs: nil, isFinished: true)
    var journal: [BothSides.Request] = []
    var trail = [Sides.event(1, "created"), Sides.event(2, "concluded")]
    var unreadable: [String] = []

    var both: BothSides {
        BothSides(
            payments: unreadable.isEmpty ? [payment] : [], trails: ["pay_1": trail], ledger: lines,
            journal: journal, unreadable: unreadable)
    }

    var comparison: Comparison {
        let plan = PlannedPayment(
            number: 1, reference: "order-1", course: course,
            legs: [
                PlannedPayment.Leg(provider: .card, instrument: "a", value: 600),
                PlannedPayment.Leg(provider: .points, instrument: "b", value: 400),
            ])
        return Comparison(both, plans: [plan], memories: ["order-1": memory])
    }

    var kinds: [Comparison.Difference.Kind] { comparison.differences.map(\.kind) }

    static func booked(
        state: String, captured: [Int64], refunded: [Int64] = [0, 0], legState: String = "captured",
        refunds: [BookedPayment.Refund] = []
    ) -> BookedPayment {
        BookedPayment(
            id: "pay_1", state: state, reason: nil, amount: DemoAmount(1_000), reference: "order-1",
            legs: zip(["card", "points"], [Int64(600), 400]).enumerated().map { index, leg in
                BookedPayment.Leg(
                    index: index, provider: leg.0, amount: DemoAmount(leg.1), state: legState,
                    captured: DemoAmount(captured[index]), refunded: DemoAmount(refunded[index]))
            }, refunds: refunds)
    }

    static func line(
        _ provider: String, key: String, leg: Int?, payment: String? = "pay_1", status: String, charges: Int = 0,
        captured: Int64 = 0, refunded: Int64 = 0, held: Int64 = 0
    ) -> BothSides.Line {
        BothSides.Line(
            provider: provider, key: key, payment: payment, leg: leg, status: status, charges: charges,
            captured: captured, refunded: refunded, held: held)
    }

    static func event(
        _ sequence: Int64, _ type: String, leg: Int? = nil, _ detail: [String: String] = [:]
    ) -> BookedEvent {
        BookedEvent(
            sequence: sequence, type: type, leg: leg, detail: detail, previousHash: "hash-\(sequence - 1)",
            hash: "hash-\(sequence)")
    }

    static func request(
        _ id: Int64, _ operation: String, key: String = "k0", origin: String = "client", fault: String? = nil,
        executed: Bool = true, result: Int? = 201
    ) -> BothSides.Request {
        BothSides.Request(
            provider: "card",
            line: JournalLine(
                id: id, operation: operation, key: key, entryKey: "", origin: origin, fault: fault,
                executed: executed, result: result), payment: "pay_1")
    }
}
