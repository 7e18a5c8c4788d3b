import PaymentCore
import ProviderSimulator
import Testing

/// What is planted, and what a comparison has to call it.
struct PlantedDifferences {
    /// Of each kind so many.
    let each: Int
    /// Within which what was done elsewhere is said to have happened.
    let window: ComparedWindow
    /// The store that names what is to be undone.
    let store: String

    /// The class that a kind of plant is, by the words of docs/comparison.md.
    static func expected(_ kind: PlantKind) -> ComparisonClass {
        switch kind {
        case .hidden: .hidden
        case .forgotten: .oursOnly
        case .orphan: .orphan
        case .foreign: .foreign
        case .duplicate: .duplicate
        case .amountChanged: .amountDiffers
        case .currencyChanged: .currencyDiffers
        case .capturedElsewhere: .statusDiffers
        case .refundChanged, .refundMissing, .refundFailed: .refundDiffers
        case .voidedElsewhere, .refundAdded, .chargedBack: .lateReversal
        }
    }

    /// Plants them all; the class that is expected of each key.
    func plant(in simulator: SimulatorControl, at provider: String) async throws -> [String: ComparisonClass] {
        var expected: [String: ComparisonClass] = [:]
        for (index, kind) in PlantKind.allCases.enumerated() {
            var order = PlantOrder(kind, count: each, seed: UInt64(index + 1))
            // By default what is new, or done by somebody else, happens now, which is too young to be judged.
            let happensNow: Set<PlantKind> = [
                .orphan, .foreign, .duplicate, .voidedElsewhere, .capturedElsewhere, .refundAdded, .refundFailed,
                .chargedBack,
            ]
            if happensNow.contains(kind) { order.atMs = window.to.milliseconds - 1_000 }
            if kind == .orphan || kind == .duplicate { order.store = store }
            for planted in try await simulator.plant(order, at: provider) {
                let key = planted.key
                #expect(expected[key] == nil, "nothing differs in two ways")
                expected[key] = PlantedDifferences.expected(kind)
            }
        }
        return expected
    }
}
