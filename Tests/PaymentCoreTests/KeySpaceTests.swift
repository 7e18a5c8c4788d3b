import PaymentCore
import Testing

/// A provider that keeps keys for each region: what was sent in one region is unknown in another.
@Suite struct KeySpaceTests {
    private let regions: RegionFixture

    init() throws { regions = try RegionFixture() }

    private var fixture: Fixture { regions.payments }
    private var west: KeySpace { regions.west }
    private var east: KeySpace { regions.east }

    private func contract(_ space: KeySpace, _ base: ProviderContract = .reference) -> ProviderContract {
        regions.contract(space, base)
    }

    /// The configuration names another region from now on, and another ledger answers.
    private func move(_ stage: inout Stage, to space: KeySpace, _ ledger: Ledger? = nil) {
        let provider = stage.provider(0)
        let contract = contract(space, stage.contracts[provider] ?? .reference)
        stage.contracts[provider] = contract
        stage.ledgers[provider] = ledger ?? Ledger(contract)
    }

    /// A payment that was charged in the west, whose answer is lost, and that nobody could ask about.
    private func inDoubt(_ base: ProviderContract, plug: Bool = false) throws -> Stage {
        var stage = try fixture.stage([contract(west, base)], plug: plug, send: [.lostAnswer])
        stage.run(while: { $0.durable.legs[0].primary.worst != .indeterminate })
        return stage
    }

    @Test(arguments: [ProviderContract.reference, .referenceSale, .enforcing, .forgetful, .unaskable, .unaskableSale])
    func `what is in doubt is neither sent nor given up in another region, and goes on in its own`(
        base: ProviderContract
    ) throws {
        var stage = try inDoubt(base, plug: true)
        let before = try #require(stage.ledgers[stage.provider(0)])
        let sent = stage.sent.count
        move(&stage, to: east)
        stage.crash()
        stage.run(until: stage.now + .days(2))
        #expect(stage.sent.count == sent, "nothing is sent in the other region")
        #expect(stage.durable.conclusion == nil, "and nobody is told that nothing was charged")
        #expect(stage.durable.legs[0].quarantine == nil, "no person decides what the configuration does")
        #expect(stage.durable.dueAt != nil, "it is looked at again")
        #expect(
            stage.durable.missingProviders(stage.contracts)
                == [.otherKeySpace(stage.provider(0), west, configured: east)])
        move(&stage, to: west, before)
        stage.run()
        #expect(stage.isAtRest)
        #expect(stage.net(0) == (stage.durable.conclusion?.state == .succeeded ? 1_000 : 0))
        #expect(Set(stage.sent.filter { $0.effect == .primary }.map(\.key)).count == 1)
    }

    @Test func `soon enough in its own region, the payment succeeds with one charge`() throws {
        var stage = try inDoubt(.reference)
        let before = try #require(stage.ledgers[stage.provider(0)])
        move(&stage, to: east)
        stage.run(until: stage.now + .minutes(5))
        move(&stage, to: west, before)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.net(0) == 1_000 && stage.sent(.authorize).count == 1)
    }

    @Test func `what is undone after the end goes on once its region is back`() throws {
        var stage = try fixture.stage([contract(west)], .manual)
        stage.run(while: { !$0.durable.isResting })
        try stage.cancel()
        stage.run()
        stage.expectEnd(.canceled)
        // It stands all the same, as a later read shows.
        stage.atProvider(0) { ledger, key in ledger.changeOutside(key, to: .authorized) }
        let standing = try #require(stage.ledgers[stage.provider(0)])
        stage.sendScript = [.lostRequest]
        let seen = standing.observe(stage.durable.legs[0].primary.key, began: stage.now + .seconds(1))
        stage.handle(.inquired(leg: 0, seen))
        move(&stage, to: east)
        stage.crash()
        stage.run(until: stage.now + .days(2))
        #expect(stage.durable.dueAt != nil && !stage.durable.missingProviders(stage.contracts).isEmpty)
        move(&stage, to: west, standing)
        // A void that was accepted, and did not last, is for people: they are asked then.
        stage.run(until: stage.now + .days(2), while: { $0.durable.legs[0].quarantine == nil })
        #expect(stage.durable.legs[0].quarantine?.cause == .acceptedButMissing)
    }

    @Test func `the trail names the key space of each request`() throws {
        var stage = try fixture.stage([contract(west)])
        stage.run()
        let intents = stage.trail.filter { $0.type == .intent }
        #expect(!intents.isEmpty && intents.allSatisfy { $0.value("key_space") == west.name })
        #expect(stage.durable.legs[0].keySpace == west)
    }

    @Test func `what provably never arrived goes on in another region`() throws {
        var stage = try fixture.stage([contract(west)], send: [.unsent])
        stage.run(while: { $0.durable.legs[0].primary.worst != .unsent })
        move(&stage, to: east)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.durable.legs[0].keySpace == east && stage.net(0) == 1_000)
    }

    @Test func `after lost rows it does not: a lost row may have sent more`() throws {
        let request = try fixture.request([contract(west)])
        var stage = try fixture.stage([contract(west)], send: [.unsent])
        stage.run(while: { $0.durable.legs[0].primary.worst != .unsent })
        stage.replicate()
        stage.failOver(request)
        move(&stage, to: east)
        stage.run(until: stage.now + .days(1))
        #expect(stage.sent.count == 1 && stage.durable.conclusion == nil)
    }

    @Test func `an intent binds, whatever became of it`() throws {
        var stage = try fixture.stage([contract(west)], send: [.crashBefore])
        #expect(stage.durable.legs[0].keySpace == west, "an intent binds: nobody knows what became of it")
        move(&stage, to: east)
        stage.run(until: stage.now + .hours(1))
        #expect(stage.sent.count == 1)
    }

    @Test func `a refund in doubt stays in its region, and is made once`() throws {
        var stage = try fixture.stage([contract(west)])
        stage.run()
        stage.sendScript = [.lostAnswer]
        try stage.refund()
        stage.run(while: { $0.durable.refunds[0].parts[0].effect.worst != .indeterminate })
        let before = try #require(stage.ledgers[stage.provider(0)])
        move(&stage, to: east)
        stage.run(until: stage.now + .hours(6))
        #expect(stage.sent(.refund).count == 1)
        #expect(stage.durable.refunds[0].state == .processing)
        move(&stage, to: west, before)
        stage.run()
        #expect(stage.durable.refunds[0].state == .succeeded && stage.net(0) == 0)
        #expect(stage.sent(.refund).count == 1)
    }

    @Test func `rows that noted no key space go on, and their next request notes it`() throws {
        var stage = try fixture.stage([.reference], send: [.lostRequest])
        stage.run(while: { $0.durable.legs[0].primary.worst != .indeterminate })
        #expect(stage.durable.legs[0].keySpace == nil)
        let provider = stage.provider(0)
        stage.contracts[provider] = contract(east)
        stage.run()
        stage.expectEnd(.succeeded)
        #expect(stage.durable.legs[0].keySpace == east)
    }

    @Test func `what a provider that cannot be asked tells counts in whichever region`() throws {
        var stage = try inDoubt(.unaskable, plug: true)
        move(&stage, to: east)
        let effect = stage.durable.legs[0].primary
        stage.handle(
            .notified(
                leg: 0,
                EffectNews(
                    key: effect.key, kind: effect.kind, amount: effect.amount,
                    word: ProviderWord(.succeeded, at: stage.now))))
        #expect(stage.durable.legs[0].primary.word?.state == .succeeded)
        #expect(stage.sent.count == 1)
    }

    @Test func `the explanation names both key spaces, and what to do`() throws {
        var stage = try inDoubt(.reference)
        move(&stage, to: east)
        let explained = PaymentMachine.explain(stage.durable, stage.context)
        #expect(
            explained.legs[0].wait
                == .configuration(.otherKeySpace(stage.provider(0), west, configured: east)))
        #expect(explained.legs[0].sentences.contains { $0.contains(west.name) && $0.contains(east.name) })
        #expect(explained.remedies == [.configureKeySpace, .decideLost])
    }

    @Test func `key spaces are compared by provider, and what others know stays`() throws {
        let (card, points) = (try ProviderName("card"), try ProviderName("points"))
        let here = KeySpaces([card: contract(east), points: .reference])
        let there = KeySpaces([card: contract(west), points: contract(west)])
        #expect(here.differences(from: there).map(\.provider) == ["card"])
        #expect(here.differences(from: here).isEmpty && KeySpaces().differences(from: there).isEmpty)
        let added = here.added(to: there)
        #expect(added.byProvider == ["card": east, "points": west])
    }

    @Test(arguments: ["", "Card", "a b", "a/b", String(repeating: "a", count: 260), "ä"])
    func `a name of other characters is none`(name: String) { #expect(KeySpace(name) == nil) }

    @Test(arguments: ["eu", "api.example.com:8443", "[::1]:443", "a_b-c"])
    func `a name reads back`(name: String) throws { #expect(KeySpace(name)?.name == name) }
}
