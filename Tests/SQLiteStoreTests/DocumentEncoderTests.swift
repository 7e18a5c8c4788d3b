internal import Foundation
internal import MemoryStore
internal import PaymentCore
internal import Testing

@testable internal import StoreContract
@testable internal import StoreRows

/// Everything that a type may encode.
private struct Everything: Codable, Equatable {
    enum Choice: Codable, Equatable {
        case plain
        case number(Int)
        case named(text: String, flag: Bool)
    }
    enum Word: String, Codable { case one, two }
    struct Inner: Codable, Equatable {
        var values: [Int64?]
        var nothing: String?
    }
    struct Empty: Codable, Equatable {}

    var text = "quote \" backslash \\ slash / tab \t newline \n null \u{0} ü 日本 \u{1F4B4} \u{2028}"
    var numbers: [Int64] = [.min, -1, 0, 1, 10, .max]
    var small: [Int8] = [-128, 127]
    var bytes: [UInt8] = [0, 255]
    var unsigned: UInt64 = .max
    var flags = [true, false]
    var choices: [Choice] = [.plain, .number(3), .named(text: "x", flag: true)]
    var word = Word.two
    var inner = Inner(values: [1, nil, 3], nothing: nil)
    var nested: [[Inner]] = [[], [Inner(values: [], nothing: "")]]
    var empty = Empty()
    var texts = ["b": "2", "a": "1", "\"": "\\"]
    var none: Int?
    var table = ["x": Inner(values: [1], nothing: nil)]
    var optional: Choice? = .number(1)
}

@Suite struct DocumentEncoderTests {
    @Test func `whatever a type encodes reads back equal`() throws {
        let bytes = try DocumentEncoder.bytes(of: Everything())
        #expect(try JSONDecoder().decode(Everything.self, from: Data(bytes)) == Everything())
        let foreign = try JSONSerialization.jsonObject(with: JSONEncoder().encode(Everything())) as? NSDictionary
        #expect(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary == foreign)
        #expect(foreign != nil)
    }

    @Test func `the same value gives the same bytes, whatever the order of a dictionary`() throws {
        let names = (0..<50).map { "name-\($0)" }
        let one = Dictionary(uniqueKeysWithValues: names.map { ($0, "v") })
        let other = Dictionary(uniqueKeysWithValues: names.reversed().map { ($0, "v") })
        #expect(try DocumentEncoder.bytes(of: one) == DocumentEncoder.bytes(of: other))
    }

    /// Says of a member that it is nothing, where most types leave it out.
    private struct Outspoken: Encodable {
        enum CodingKeys: CodingKey { case first, second, third, fourth }
        func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encodeNil(forKey: .first)
            try members.encode(1, forKey: .second)
            var items = members.nestedUnkeyedContainer(forKey: .third)
            try items.encodeNil()
            try items.encode("x")
            try "y".encode(to: members.superEncoder(forKey: .fourth))
        }
    }

    @Test func `a member of which a type says that it is nothing is null`() throws {
        let text = String(decoding: try DocumentEncoder.bytes(of: Outspoken()), as: UTF8.self)
        #expect(text == #"{"first":null,"second":1,"third":[null,"x"],"fourth":"y"}"#)
    }

    @Test func `a floating-point number is refused`() {
        #expect(throws: EncodingError.self) { try DocumentEncoder.bytes(of: ["x": 1.5]) }
        #expect(throws: EncodingError.self) { try DocumentEncoder.bytes(of: [Float(1.5)]) }
    }

    @Test func `a payment in every state reads back equal`() throws {
        var seen: Set<PaymentState> = []
        for payment in try StepByStep.everyState() {
            let bytes = try PaymentDocument.encode(payment)
            #expect(try PaymentDocument.decode(Data(bytes)) == payment)
            #expect(try PaymentDocument.encode(payment) == bytes)
            let foreign = try JSONSerialization.jsonObject(with: JSONEncoder().encode(payment)) as? NSDictionary
            #expect(try JSONSerialization.jsonObject(with: Data(bytes)) as? NSDictionary == foreign)
            seen.insert(payment.state)
        }
        #expect(seen == Set(PaymentState.allCases))
    }
}

/// Payments as their machine has them after each step, without a store.
private struct StepByStep {
    private let scenario: Scenario
    private var work: Work
    private var actions: [PaymentAction]
    private(set) var payments: [Payment] = []

    static func everyState() throws -> [Payment] {
        var order = Scenario.Order("k1")
        order.reference = "r \" \\"
        order.metadata = ["b": "2", "a": "1"]
        order.legs = [("cards", 700), ("wallet", 500), ("points", 300)]
        var captured = try StepByStep(order)
        try captured.answerAll()
        try captured.refund()
        try captured.answerAll()
        order.legs = [("cards", 700), ("wallet", 500)]
        order.capture = .manual
        var held = try StepByStep(order)
        try held.answerAll()
        try held.cancel()
        try held.answerAll()
        var declined = try StepByStep(order)
        try declined.answer { work, order, now in
            order.provider.name == "wallet"
                ? AttemptReport(.declined, code: "insufficient_funds") : work.acceptance(of: order, at: now)
        }
        var contradicted = try StepByStep(order)
        try contradicted.answer { work, order, now in try work.contradiction(to: order, at: now) }
        order.returnURL = WebAddress("https://shop.example/back")
        var asked = try StepByStep(order)
        try asked.answer { work, order, now in work.question(about: order, at: now) }
        return captured.payments + held.payments + declined.payments + contradicted.payments + asked.payments
    }

    private init(_ order: Scenario.Order) throws {
        let clock = ManualClock()
        scenario = Scenario(store: MemoryStore(clock: { clock.now() }), clock: clock)
        (work, actions) = try scenario.draft(order)
        note()
    }

    private mutating func note() {
        payments.append(work.payment)
        work.machine.committed(version: work.payment.version + 1)
    }

    private mutating func answerAll() throws { try answer { $0.acceptance(of: $1, at: $2) } }

    private mutating func answer(_ report: (Work, SendOrder, Timestamp) throws -> AttemptReport) throws {
        while !actions.isEmpty {
            guard case .send(let order) = actions.removeFirst() else { continue }
            scenario.clock.advance(by: .milliseconds(1))
            let answer = try report(work, order, scenario.clock.now())
            let event = PaymentEvent.attempted(leg: order.leg, effect: order.effect, number: order.number, answer)
            actions += work.machine.handle(event, try scenario.context())
            note()
        }
    }

    private mutating func cancel() throws {
        let request = CancelRequest(key: try IdempotencyKey("c1"), reason: "changed", at: scenario.clock.now())
        actions += try work.machine.cancel(request, try scenario.context())
        note()
    }

    private mutating func refund() throws {
        actions += try work.machine.refund(
            key: IdempotencyKey("f1"), amounts: nil, reason: "back", try scenario.context())
        note()
    }
}
