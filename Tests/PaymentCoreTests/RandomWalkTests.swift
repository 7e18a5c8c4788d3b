import Foundation
import PaymentCore
import SeededChance
import Testing

/// Thousands of stories with drawn faults, crashes and cancels. A seed that fails is printed; it repeats exactly.
@Suite struct RandomWalkTests {
    static let casts: [Cast] = [
        Cast("one two-phase leg", [.reference]),
        Cast("two two-phase legs", [.reference, .reference]),
        Cast("a sale", [.referenceSale]),
        Cast("a hold and a sale", [.reference, .referenceSale]),
        Cast("three legs", [.reference, .reference, .referenceSale]),
        Cast("PayPay with the plug", [.payPay], plug: true),
        Cast("GMO-PG with the plug", [.gmoPG, .reference], plug: true),
        Cast("not_after without tombstones", [.enforcing, .enforcing]),
        Cast("keys that are forgotten", [.forgetful]),
        Cast("Stripe with the plug, beside a sale", [.listed, .referenceSale], plug: true),
        Cast("one that cannot be asked", [.unaskable], plug: true),
        Cast(
            "one that cannot be asked and forgets keys, beside another", [.unaskableForAWeek, .reference], plug: true),
        Cast(
            "two unaskable ones that leave tombstones", [.unaskableTombstoning, .unaskableTombstoning], plug: true),
        Cast("a sale that cannot be asked about", [.reference, .unaskableSale], plug: true),
    ]

    /// The providers of a story.
    struct Cast: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let contracts: [ProviderContract]
        let plug: Bool
        let losesRows: Bool
        let hasPeople: Bool
        let movesRegions: Bool

        init(
            _ name: String, _ contracts: [ProviderContract], plug: Bool = false, losesRows: Bool = false,
            hasPeople: Bool = false, movesRegions: Bool = false
        ) {
            self.movesRegions = movesRegions
            self.losesRows = losesRows
            self.hasPeople = hasPeople
            testDescription = name
            self.contracts = contracts
            self.plug = plug
        }
    }

    /// How many stories of each cast are played; more of them with `PAYMENT_CORE_SEEDS`.
    static let seeds: UInt64 = {
        let asked = ProcessInfo.processInfo.environment["PAYMENT_CORE_SEEDS"].flatMap { UInt64($0) }
        return asked ?? 120
    }()

    @Test(arguments: casts) func `whatever fails on the way, money and words agree at rest`(_ cast: Cast) throws {
        let fixture = try Fixture()
        var ends: [PaymentState: UInt64] = [:]
        for seed in 0..<RandomWalkTests.seeds {
            let stage = try Walk(cast, seed: seed, fixture).ended()
            ends[stage.durable.state, default: 0] += 1
            #expect(stage.judge.faults.isEmpty, "seed \(seed): \(stage.judge.faults.prefix(3))")
        }
        #expect(ends[.succeeded, default: 0] > RandomWalkTests.seeds / 8, "\(ends)")
        #expect(ends[.canceled, default: 0] + ends[.failed, default: 0] > RandomWalkTests.seeds / 20, "\(ends)")
    }
}

extension RandomWalkTests {
    static let replicated: [Cast] = [
        Cast("one leg", [.reference], losesRows: true),
        Cast("two legs", [.reference, .reference], losesRows: true),
        Cast("not_after without tombstones", [.enforcing, .reference], losesRows: true),
    ]

    @Test(arguments: replicated) func `when a failover loses rows, money and words agree at rest`(_ cast: Cast) throws {
        let fixture = try Fixture()
        var ends: [PaymentState: UInt64] = [:]
        for seed in 0..<RandomWalkTests.seeds {
            let stage = try Walk(cast, seed: seed, fixture).ended()
            ends[stage.durable.state, default: 0] += 1
            #expect(stage.judge.faults.isEmpty, "seed \(seed): \(stage.judge.faults.prefix(3))")
        }
        #expect(ends[.succeeded, default: 0] > RandomWalkTests.seeds / 8, "\(ends)")
        #expect(ends[.canceled, default: 0] + ends[.failed, default: 0] > RandomWalkTests.seeds / 20, "\(ends)")
    }
}

extension RandomWalkTests {
    static let regional: [Cast] = [
        Cast("one leg", [.reference], movesRegions: true),
        Cast("a hold and a sale", [.reference, .referenceSale], movesRegions: true),
        Cast("not_after without tombstones", [.enforcing], movesRegions: true),
        Cast("one that cannot be asked", [.unaskable], plug: true, movesRegions: true),
    ]

    @Test(arguments: regional)
    func `while a provider is moved between regions, money and words agree at rest`(_ cast: Cast) throws {
        let fixture = try Fixture()
        var ends: [PaymentState: UInt64] = [:]
        var waited = 0
        for seed in 0..<RandomWalkTests.seeds {
            let walk = try Walk(cast, seed: seed, fixture).played()
            ends[walk.stage.durable.state, default: 0] += 1
            waited += walk.waitedForRegion
            #expect(walk.stage.judge.faults.isEmpty, "seed \(seed): \(walk.stage.judge.faults.prefix(3))")
        }
        #expect(ends[.succeeded, default: 0] > RandomWalkTests.seeds / 8, "\(ends)")
        #expect(waited > RandomWalkTests.seeds / 4, "payments were in doubt in the region that was left")
    }
}

/// One story, drawn from a seed.
struct Walk {
    /// Where payments begin, at providers with several regions.
    static let west = KeySpace("west")
    /// Whether a cancel may be written beside the holder.
    static let writesBeside = true
    var stage: Stage
    var chance: SeededChance
    /// What people carried out, and what they were refused.
    var repairs: [Repair.Action: Int] = [:]
    var refusals: [RepairRefusal: Int] = [:]
    private let hasPeople: Bool
    private let fixture: Fixture
    private let isManual: Bool
    private let mayQuarantine: Bool
    private var refundsLeft = 2
    private var failoversLeft: Int
    private let request: CreateRequest
    /// How often the region of something in doubt was left.
    private(set) var waitedForRegion = 0

    init(_ cast: RandomWalkTests.Cast, seed: UInt64, _ fixture: Fixture) throws {
        var chance = SeededChance(seed: seed)
        self.fixture = fixture
        let onePhase = cast.contracts.contains { $0.phases == .sale }
        hasPeople = cast.hasPeople
        isManual = !onePhase && chance.happens(percent: 35)
        var policy = SettlementPolicy()
        policy.plugAllowed = cast.plug
        let hasPlug = cast.plug
        let drawn = (0..<4).map { _ in chance.below(100) }
        let pending = Int64(chance.below(40_000))
        // A decline that is not bound, with the plug as the only way to undo it, is tried again until it succeeds.
        mayQuarantine =
            cast.hasPeople || drawn[2] < 6 || cast.losesRows && isManual
            || cast.contracts.contains { $0.keyRetention != nil }
        let contracts = cast.contracts.map { contract in
            var contract = contract
            if cast.movesRegions { contract.keySpace = Walk.west }
            return contract
        }
        request = try fixture.request(contracts, isManual ? .manual : .automatic)
        failoversLeft = cast.losesRows ? 2 : 0
        refundsLeft = cast.losesRows ? 0 : 2
        var faults = Stage.Faults(chance: SeededChance(seed: seed &+ 77), percent: 10 + chance.below(45))
        faults.mayFailReads = true
        stage = Stage(
            request, contracts: try fixture.byName(contracts), at: fixture.start, policy: policy,
            commitsAreAcknowledged: !cast.losesRows, faults: faults
        ) { ledger in
            if drawn[0] < 10 {
                ledger.declines[.authorize] = 1 + drawn[3] % 2
                ledger.declines[.sale] = 1
            }
            if drawn[1] < 12, !hasPlug { ledger.declines[.capture] = 1 }
            // Where only sums are shown such a refund is tried for ever: see KnownDefects.
            if drawn[2] < (cast.hasPeople ? 40 : 6) { ledger.declines[.refund] = 1 }
            if cast.hasPeople, drawn[3] < 40 { ledger.declines[.void] = 1 + drawn[0] % 2 }
            if drawn[3] < 15 { ledger.pendingFor = .milliseconds(pending) }
        }
        self.chance = chance
        if cast.movesRegions { try beginRegions() }
        if cast.losesRows { stage.standby = Stage.Rows() }
    }

    /// Plays it to its end.
    func ended() throws -> Stage { try played().stage }

    /// The same, with what people did.
    func played() throws -> Walk {
        var walk = self
        try walk.play()
        return walk
    }

    private mutating func play() throws {
        for _ in 0..<140 {
            guard !stage.isAtRest || refundsLeft > 0 else { break }
            try intervene()
            if !stage.step(), !restsOrEnded { break }
        }
        stage.faults?.actionsLeft = 0
        if stage.standby != nil {
            stage.replicate()
            stage.standby = nil  // From here every latch is acknowledged by itself.
        }
        stage.actions = 0
        let begun = stage.now
        try roundTrip()
        visitRegions()
        var came = stage.run(steps: 500) { !($0.isAtRest || $0.awaitsPeople) }
        for _ in 0..<12 where came && hasPeople && stage.awaitsPeople {
            meddle()
            came = stage.run(steps: 500) { !($0.isAtRest || $0.awaitsPeople) }
        }
        stage.judge.require(came, "stuck: \(stage.durable.summary)")
        stage.judge.require(stage.actions <= 200, "\(stage.actions) actions to come to rest")
        stage.judge.require(stage.now - begun < .days(61), "took \(stage.now - begun) to come to rest")
        if came, stage.awaitsPeople {
            stage.judge.require(mayQuarantine, "quarantined: \(stage.durable.summary)")
        } else if came, repairs.isEmpty {
            stage.judge.atRest(stage)
        }
    }

    // MARK: Regions

    private mutating func beginRegions() throws {
        let here = try #require(Walk.west)
        let there = try #require(KeySpace("east"))
        // What was sent while the payment was made is on its way there.
        for index in stage.wire.indices { stage.wire[index].region = here }
        stage.regions = Regions(
            here: here, there: there, ledgersThere: stage.ledgers.mapValues { Ledger($0.contract) })
    }

    private mutating func move() {
        stage.moveToOtherRegion()
        if !stage.durable.missingProviders(stage.contracts).isEmpty { waitedForRegion += 1 }
    }

    /// Each region is configured for some days, so that whatever waits for one ends.
    private mutating func visitRegions() {
        guard stage.regions != nil else { return }
        for _ in 0..<6 where !stage.isAtRest {
            stage.run(steps: 500, until: stage.now + .days(3)) { !($0.isAtRest || $0.awaitsPeople) }
            if !stage.durable.missingProviders(stage.contracts).isEmpty { move() }
        }
    }

    private var restsOrEnded: Bool { stage.durable.isResting || stage.durable.state.isFinal }

    private mutating func intervene() throws {
        if chance.happens(percent: 2), stage.durable.conclusion == nil {
            let isBeside = Walk.writesBeside && chance.happens(percent: 50)
            try tolerant { stage in isBeside ? try stage.cancelBeside() : try stage.cancel() }
        }
        if isManual, stage.durable.isResting, chance.happens(percent: 40) {
            let amounts: [Int: Int64]? = chance.happens(percent: 50) ? [0: 700] : nil
            try tolerant { stage in try stage.capture(amounts) }
        }
        if refundsLeft > 0, stage.durable.state == .succeeded, chance.happens(percent: 50) {
            refundsLeft -= 1
            let amount = Int64(1 + chance.below(400))
            let key = "refund-\(refundsLeft)"
            try tolerant { stage in try stage.refund([0: amount], key: key) }
        }
        if stage.standby != nil {
            if chance.happens(percent: 20) { stage.replicate() }
            if failoversLeft > 0, chance.happens(percent: 5) {
                failoversLeft -= 1
                stage.failOver(request)
            }
        }
        if hasPeople, stage.durable.legs.contains(where: { $0.quarantine != nil }), chance.happens(percent: 20) {
            meddle()
        }
        if stage.regions != nil, chance.happens(percent: 8) { move() }
        if chance.happens(percent: 2) { stage.crash() }
        if chance.happens(percent: 2) { stage.handle(.inquireNow) }
        if chance.happens(percent: 3) { try roundTrip() }
    }

    /// An operation that comes too late or too early changes nothing.
    private mutating func tolerant(_ operation: (inout Stage) throws -> Void) throws {
        do {
            try operation(&stage)
        } catch is OperationRefusal {
            return
        }
    }

    /// What a store keeps is what it was given.
    private mutating func roundTrip() throws {
        let stored = try JSONEncoder().encode(stage.durable)
        let read = try JSONDecoder().decode(Payment.self, from: stored)
        stage.judge.require(read == stage.durable, "a payment read back is another")
    }
}
