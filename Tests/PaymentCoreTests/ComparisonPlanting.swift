import PaymentCore
import SeededChance
import Testing

/// Differences that are planted into a world, each with the class in which it must be found.
extension ComparisonWorld {
    /// What chance picks from; `nil` stands for two sides that agree.
    static let kinds: [ComparisonClass?] = [
        nil, nil, nil, .contradiction, .currencyDiffers, .amountDiffers, .statusDiffers, .refundDiffers, .oursOnly,
        .hidden, .orphan, .duplicate, .foreign, .lateReversal, .inFlight, .inert,
    ]

    /// Plants so many positions over so many hours; returns what must be found of each.
    func plant(_ count: Int, over hours: Int, chance: inout SeededChance) throws -> [EffectKey: ComparisonClass] {
        var expected: [EffectKey: ComparisonClass] = [:]
        for number in 0..<count {
            let name = "k\(number)"
            let moment =
                run.window.from + .milliseconds(Int64(chance.below(hours * 3_600_000 - 3_000)))
            let kind = chance.pick(Self.kinds, else: nil)
            let amount = Int64(1 + chance.below(5)) * 100
            let (key, ours, theirs) = try pair(kind, name, amount, moment, chance: &chance)
            if let ours { books[ours.key] = ours }
            if let theirs { provider[theirs.key] = theirs }
            expected[key] = kind ?? .matched
            if kind == .hidden { hidden.insert(key) }
            if kind == .duplicate, let ours { expected[ours.key] = .matched }
        }
        return expected
    }

    private typealias Pair = (key: EffectKey, ours: BookedPosition?, theirs: ListedPosition?)

    private func pair(
        _ kind: ComparisonClass?, _ name: String, _ amount: Int64, _ moment: Timestamp, chance: inout SeededChance
    ) throws -> Pair {
        let later = moment + .milliseconds(Int64(chance.below(2_000)))
        let key = EffectKey(reported: name)
        let taken = try Compared.ours(name, .taken, amount: amount, at: later)
        func shows(_ status: Observation.Status, _ value: Int64? = nil, in currency: String = "JPY") throws
            -> ListedPosition
        { try Compared.theirs(name, status, amount: value ?? amount, in: currency, at: moment) }
        switch kind {
        case nil, .matched: return try agreeing(name, amount, moment, later, chance: &chance)
        case .contradiction:
            return (key, taken, try Compared.theirs(name, .captured, at: moment, contradiction: "another_kind"))
        case .currencyDiffers: return (key, taken, try shows(.captured, in: "EUR"))
        case .amountDiffers: return (key, taken, try shows(.captured, amount + (chance.happens(percent: 50) ? 1 : -1)))
        case .statusDiffers:
            if chance.happens(percent: 50) { return (key, taken, try shows(.authorized)) }
            return (
                key, try Compared.ours(name, .ended, amount: amount, state: .failed, at: later), try shows(.captured)
            )
        case .refundDiffers:
            let refunded = try Compared.ours(name, .taken, amount: amount, refunds: ["r": 50], at: later)
            return (key, refunded, try shows(.captured))
        case .lateReversal:
            if chance.happens(percent: 50) { return (key, taken, try shows(.voided)) }
            return (key, taken, try Compared.theirs(name, .captured, amount: amount, refunds: ["x": 10], at: moment))
        case .oursOnly: return (key, taken, nil)
        case .hidden: return (key, taken, try shows(.captured))
        case .orphan: return (key, nil, try Compared.theirs(name, .captured, amount: amount, names: name, at: moment))
        case .foreign: return (key, nil, try shows(.captured))
        case .duplicate:
            let own = "own-\(name)"
            let ours = try Compared.ours(own, .taken, amount: amount, at: later)
            provider[ours.key] = try Compared.theirs(own, .captured, amount: amount, at: moment)
            return (key, ours, try Compared.theirs(name, .captured, amount: amount, names: own, at: moment))
        case .inert: return (key, nil, try Compared.theirs(name, .voided, amount: amount, names: name, at: moment))
        case .inFlight, .unproven, .otherStore:
            let open = try Compared.ours(
                name, .undecided, amount: amount, work: .underWay, state: .processing, at: later)
            return (key, open, try shows(.pending))
        }
    }

    private func agreeing(
        _ name: String, _ amount: Int64, _ moment: Timestamp, _ later: Timestamp, chance: inout SeededChance
    ) throws -> Pair {
        let key = EffectKey(reported: name)
        func pair(
            _ standing: BookedPosition.Standing, _ state: PaymentState, _ status: Observation.Status,
            _ refunds: [String: Int64] = [:]
        ) throws -> Pair {
            let ours = try Compared.ours(
                name, standing, amount: amount, refunds: refunds, state: state, at: later)
            return (key, ours, try Compared.theirs(name, status, amount: amount, refunds: refunds, at: moment))
        }
        switch chance.below(5) {
        case 0: return try pair(.held, .authorized, .authorized)
        case 1: return try pair(.ended, .failed, .declined)
        case 2: return try pair(.givenBack, .failed, .captured, ["r": amount])
        case 3: return try pair(.taken, .succeeded, .captured, ["r1": 10, "r2": 10])
        default: return try pair(.taken, .succeeded, .captured)
        }
    }

    /// Requires that exactly what was planted was found, and that all money is proven.
    func requireFound(_ expected: [EffectKey: ComparisonClass], seed: UInt64) throws {
        for (key, kind) in expected {
            #expect(rows[key]?.finding == kind, "seed \(seed): \(key) as \(rows[key]?.row ?? "nothing")")
        }
        let differing = Set(expected.filter { $0.value.isDifference }.keys)
        let open = Set(discrepancies.values.filter { $0.state != .closed }.compactMap(\.key))
        #expect(open == differing, "seed \(seed)")
        #expect(Set(rows.keys) == Set(expected.keys), "seed \(seed)")
        #expect(run.isProven == true, "seed \(seed): \(run.proofs)")
    }
}
