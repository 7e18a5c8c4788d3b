import Foundation
import HTTPTransport
import PostgresServers
import ProviderSimulator
import Testing

@testable import Lab

/// Three daemons on a primary and its standby, providers that misbehave, callers that do not give up, and mishaps.
struct SoakRound: Sendable {
    /// How many daemons share the database.
    static let daemons = 3
    /// How many callers send at the same time.
    private static let callers = 24
    /// How long payments may take to settle once nothing happens any more.
    private static let settleWithin = Duration.seconds(90)
    private static let faultPercent = 20

    let plan: SoakPlan
    let seed: UInt64
    let record: SoakRecord

    /// Runs the round; both sides must agree at its end.
    func run() async throws {
        let pair = try await PostgresPair.start()
        try await World.run(try settings(pair)) { world, _ in
            let curl = CurlSender(configuration: CurlConfiguration(maximumConnections: 64, allowPlainHTTP: true))
            try await run(world, pair, curl)
            await curl.shutdown()
        }
        try await pair.stop()
    }

    private func settings(_ pair: PostgresPair) throws -> WorldSettings {
        var settings = WorldSettings()
        settings.store = .postgres(dsn: pair.dsn, schema: "reconciled", timeLimit: "3s")
        settings.daemons = SoakRound.daemons
        settings.places = Places.shared.count
        settings.seed = seed
        settings.rates = try JSONDecoder().decode(
            [FaultRate].self, from: DemoJSON.encode(DemoFaults.rates(percent: SoakRound.faultPercent)))
        settings.contractLines = ["visibility_lag: 1s", "requests_per_second: 2000", "concurrency: 64"]
        settings.reconcileLines = ["default_deadline: 30s", "seal_every: 2s"]
        settings.inquirySchedule = "150ms, 300ms, 600ms, 1s, 2s"
        settings.firstByte = "1s"
        settings.lease = "2s"
        settings.logLevel = "info"
        return settings
    }

    private func run(_ world: World, _ pair: PostgresPair, _ curl: CurlSender) async throws {
        await record.began()
        let fleet = AnyDaemon(world, sender: curl)
        let shop = Shop()
        let client = CallerClient(sender: fleet, base: AnyDaemon.base, token: World.callerToken)
        let orders = Orders(PlannedPayment.all(count: 20_000, seed: seed))
        let maker = MishapMaker(world, pair, record) { await shop.finished }
        do {
            try await pay(orders, client, shop, maker)
        } catch {
            let tally = fleet.tally
            Issue.record("requests \(tally.requests), under way \(tally.underWay), unanswered \(tally.unanswered)")
            throw error
        }
        let reader = SidesReader(
            client: client, sender: curl, simulator: "http://127.0.0.1:\(world.simulatorPort)",
            providerToken: "provider-key:token:merchant")
        let plans = await orders.given
        try await settle(plans, client, shop, reader)
        await record.add(fleet.tally)
        try await judge(world, maker, plans, fleet.tally.promised, shop, reader)
    }

    /// Callers send until there are no more mishaps.
    private func pay(
        _ orders: Orders, _ client: CallerClient, _ shop: Shop, _ maker: MishapMaker
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<SoakRound.callers {
                group.addTask {
                    while let plan = await orders.next() {
                        try await Visit(plan: plan, client: client, shop: shop).walk()
                    }
                }
            }
            group.addTask {
                try await maker.make(plan)
                await orders.close()
            }
            for try await _ in group {}
        }
    }

    /// Everything must come to rest, and callers whose patience ended come back with the same keys.
    private func settle(
        _ plans: [PlannedPayment], _ client: CallerClient, _ shop: Shop, _ reader: SidesReader
    ) async throws {
        let end = ContinuousClock.now + SoakRound.settleWithin
        while ContinuousClock.now < end {
            await rest(until: end, reader)
            let memories = await shop.memories
            let unfinished = plans.filter { memories[$0.reference]?.isFinished != true }
            if unfinished.isEmpty { break }
            for plan in unfinished { try await Visit(plan: plan, client: client, shop: shop).walk() }
        }
        // A request that seemed lost may still be on its way; what it does must be seen before both sides are compared.
        try await Polling.hold(for: .milliseconds(2 * DemoFaults.lateMs))
        await rest(until: end, reader)
    }

    /// Waits until nothing is unsettled, or the time is over: the comparison tells what is left.
    private func rest(until end: ContinuousClock.Instant, _ reader: SidesReader) async {
        try? await Polling.until("nothing is unsettled", within: end - .now) {
            for state in ["processing", "canceling"] where try await !reader.payments(state: state).isEmpty {
                return false
            }
            return try await reader.payments(state: "succeeded").allSatisfy(\.isSettled)
        }
    }

    private func judge(
        _ world: World, _ maker: MishapMaker, _ plans: [PlannedPayment], _ promised: Set<String>, _ shop: Shop,
        _ reader: SidesReader
    ) async throws {
        try await maker.requireAlive()
        let memories = await shop.memories
        let remembered = memories.values.filter(\.isAcknowledged).compactMap(\.id)
        let sides = try await reader.read(acknowledged: promised.union(remembered).sorted())
        for number in 0..<SoakRound.daemons {
            let status = try await world.terminate(number)
            #expect(status == 0, "daemon \(number) was told to stop")
        }
        let check = try await world.command(["payments", "verify"])
        let verdict = SoakVerdict(sides, Comparison(sides, plans: plans, memories: memories), check: check)
        await record.add(verdict)
        if !verdict.isGood { throw BothSidesDiffer(description: verdict.report) }
    }

    /// The two sides do not agree.
    struct BothSidesDiffer: Error, CustomStringConvertible {
        let description: String
    }

    /// What the callers are to send, one after the other, as long as there are mishaps.
    private actor Orders {
        private(set) var given: [PlannedPayment] = []
        private var rest: ArraySlice<PlannedPayment>

        init(_ plans: [PlannedPayment]) { rest = plans[...] }

        func next() -> PlannedPayment? {
            guard let plan = rest.popFirst() else { return nil }
            given.append(plan)
            return plan
        }

        func close() { rest = [] }
    }
}
