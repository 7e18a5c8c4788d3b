/// Numbers that depend on the seed alone (SplitMix64), so that a run can be had again.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// What one customer does: a payment of one to three legs, and what becomes of it by the customer's will.
struct PlannedPayment: Sendable, Equatable {
    struct Leg: Sendable, Equatable {
        let provider: DemoProvider
        let instrument: String
        /// In the currency's minor unit.
        let value: Int64
    }

    /// What the caller asks for after the creation.
    enum Course: Sendable, CaseIterable {
        /// Captured at once; nothing more.
        case pay
        /// Captured at once, then everything is given back.
        case refundAll
        /// Captured at once, then a part of the first leg is given back, and later the rest of everything.
        case refundTwice
        /// Captured at once, then the last leg is given back.
        case refundOneLeg
        /// Held, then captured in full.
        case captureAll
        /// Held, then a part of the first leg is captured and the rest released.
        case capturePart
        /// Held, then canceled.
        case cancelHeld
        /// Held, and left so on purpose.
        case leaveHeld
        /// Canceled while the creation is still under way.
        case cancelAtOnce

        var isManual: Bool {
            switch self {
            case .captureAll, .capturePart, .cancelHeld, .leaveHeld: true
            case .pay, .refundAll, .refundTwice, .refundOneLeg, .cancelAtOnce: false
            }
        }

        /// How many of a hundred payments take this course.
        var share: Int {
            switch self {
            case .pay: 45
            case .refundAll: 10
            case .refundTwice: 7
            case .refundOneLeg: 5
            case .captureAll: 9
            case .capturePart: 6
            case .cancelHeld: 6
            case .leaveHeld: 3
            case .cancelAtOnce: 9
            }
        }
    }

    static let currency = "JPY"

    /// From 1.
    let number: Int
    /// Names the payment for the caller, and begins each of its idempotency keys.
    let reference: String
    let course: Course
    let legs: [Leg]

    var total: Int64 { legs.reduce(0) { $0 + $1.value } }

    /// What each leg shall have captured if the payment succeeds.
    var asked: [Int64] {
        guard course == .capturePart else { return legs.map(\.value) }
        return legs.indices.map { $0 == 0 ? firstPart : 0 }
    }

    /// The part of the first leg that is captured, or given back, alone.
    var firstPart: Int64 { legs.first.map { max(1, $0.value / 3) } ?? 0 }

    /// All payments of a run.
    static func all(count: Int, seed: UInt64, adapter: DemoAdapter = .reference) -> [PlannedPayment] {
        var numbers = SeededNumbers(seed: seed)
        return (0..<max(0, count)).map { plan($0 + 1, seed: seed, adapter, &numbers) }
    }

    private static func plan(
        _ number: Int, seed: UInt64, _ adapter: DemoAdapter, _ numbers: inout SeededNumbers
    ) -> PlannedPayment {
        let course = course(at: Int.random(in: 0..<100, using: &numbers))
        let providers = providers(isManual: course.isManual, &numbers)
        // An instrument that misbehaves belongs to one leg; the others must then be undone.
        let odd = Int.random(in: 0..<providers.count, using: &numbers)
        let mark = instrumentMark(Int.random(in: 0..<100, using: &numbers))
        let legs = providers.enumerated().map { index, provider in
            Leg(
                provider: provider,
                instrument: adapter.instrument("\(index == odd ? mark : "")tok-\(number)-\(index)", at: provider),
                value: Int64.random(in: 100...9_999, using: &numbers))
        }
        return PlannedPayment(
            number: number, reference: "demo-\(seed)-\(number)", course: course, legs: legs)
    }

    private static func course(at index: Int) -> Course {
        var rest = index
        for course in Course.allCases {
            if rest < course.share { return course }
            rest -= course.share
        }
        return .pay
    }

    private static func providers(isManual: Bool, _ numbers: inout SeededNumbers) -> [DemoProvider] {
        let percent = Int.random(in: 0..<100, using: &numbers)
        // A one-phase leg cannot be held, and one for each payment is the most.
        let other: DemoProvider = isManual ? .points : .balance
        switch Int.random(in: 1...3, using: &numbers) {
        case 1: return [percent < 60 ? .card : percent < 80 ? .points : other]
        case 2: return [.card, percent < 50 ? .points : percent < 85 ? other : .card]
        default: return [.card, .points, percent < 70 ? other : .card]
        }
    }

    /// The simulator knows by its beginning what an instrument does.
    private static func instrumentMark(_ index: Int) -> String {
        switch index {
        case 0..<4: "decline-"
        case 4: "unknown-"
        case 5: "capture-decline-"
        default: ""
        }
    }
}

/// The three providers of the demo.
enum DemoProvider: String, Sendable, CaseIterable, Codable {
    /// Held, then captured.
    case card
    /// Held, then captured.
    case points
    /// Taken in one step.
    case balance

    /// The contract in the daemon's configuration.
    var contract: String { self == .balance ? "reference_sale" : "reference" }
}
