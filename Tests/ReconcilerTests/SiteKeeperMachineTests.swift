import PaymentCore
import Reconciler
import Testing

/// When a keeper reads, renews and tells, stepped by hand.
@Suite struct SiteKeeperMachineTests {
    private static let lease = Span.seconds(30)

    private struct Stage {
        var machine: SiteKeeperMachine
        var right: SiteRight
        let proof: SiteProofKind

        init(
            _ proof: SiteProofKind, peer: SiteName? = nil, contracts: [ProviderName: ProviderContract] = [:]
        ) {
            let settings = SiteMachine.Settings(
                site: .main, proof: proof, lease: SiteKeeperMachineTests.lease, peer: peer)
            self.proof = proof
            right = SiteRight(settings)
            machine = SiteKeeperMachine(
                SiteKeeperMachine.Settings(machine: settings, recovery: nil, contracts: contracts))
        }

        mutating func take(_ input: SiteKeeperMachine.Input, at milliseconds: Int64) -> [SiteKeeperMachine.Job] {
            machine.handle(input, &right, at: SteadyMoment(milliseconds: milliseconds))
        }

        /// Reads the row, and lets what follows take effect; returns whether a renewal was asked for.
        mutating func read(_ reading: SiteReading, at milliseconds: Int64) -> Bool {
            let began = SteadyMoment(milliseconds: milliseconds)
            var isRenewalAsked = false
            for job in take(.read(.success(reading), began: began), at: milliseconds) {
                switch job {
                case .renew, .askWitness: isRenewalAsked = true
                case .apply(let standing, let window): _ = take(.applied(standing, window), at: milliseconds)
                case .read, .look, .note, .noteKeySpaces, .askPeer, .noteAlive: break
                }
            }
            return isRenewalAsked
        }
    }

    private func reading(
        _ epoch: Int64 = 1, site: SiteName = .main, phase: SitePhase = .active,
        replication: SiteReplication = .synchronous, leaseUntil: Int64? = nil
    ) -> SiteReading {
        let term = SiteTerm(
            epoch: epoch, site: site, since: Timestamp(milliseconds: 0), beginning: .first, by: "a", reason: "b")
        let row = SiteRow(
            term: term, phase: phase, leaseUntil: leaseUntil.map { Timestamp(milliseconds: $0) },
            replication: replication)
        return SiteReading(
            row: row, now: Timestamp(milliseconds: 0), database: SiteDatabase(replication: replication))
    }

    @Test func `the other site is asked before the first act, each third of a lease, and once at a time`() throws {
        var stage = Stage(.none, peer: try SiteName("west"))
        func asks(_ milliseconds: Int64) -> Bool {
            var isAsked = false
            let began = SteadyMoment(milliseconds: milliseconds)
            for job in stage.take(.read(.success(reading()), began: began), at: milliseconds) {
                switch job {
                case .askPeer: isAsked = true
                case .apply(let standing, let window): _ = stage.take(.applied(standing, window), at: milliseconds)
                case .read, .look, .note, .noteKeySpaces, .askWitness, .renew, .noteAlive: break
                }
            }
            return isAsked
        }
        #expect(asks(0), "before anything else")
        #expect(!stage.right.told.isActive)
        #expect(!asks(9_600), "it has not answered yet")
        let told = stage.take(.peerAnswered(.knows(epoch: 1, site: .main)), at: 9_700)
        #expect(told.contains { if case .apply = $0 { true } else { false } }, "now it may act: \(told)")
        #expect(asks(9_800))
        _ = stage.take(.peerAnswered(.silent("no answer")), at: 9_900)
        #expect(!asks(12_000))
        #expect(asks(19_400))
    }

    @Test func `who acts without a lease says so each third of a lease, once it acts`() throws {
        var stage = Stage(.standby, peer: try SiteName("west"))
        func notes(_ input: SiteKeeperMachine.Input, _ milliseconds: Int64) -> Bool {
            var isNoted = false
            var inputs = [input]
            while !inputs.isEmpty {
                for job in stage.take(inputs.removeFirst(), at: milliseconds) {
                    switch job {
                    case .noteAlive(let epoch): isNoted = epoch == 1
                    case .apply(let standing, let window): inputs.append(.applied(standing, window))
                    case .read, .look, .note, .noteKeySpaces, .askPeer, .askWitness, .renew: break
                    }
                }
            }
            return isNoted
        }
        func read(_ milliseconds: Int64, leaseUntil: Int64? = nil) -> SiteKeeperMachine.Input {
            .read(
                .success(reading(replication: .none, leaseUntil: leaseUntil)),
                began: SteadyMoment(milliseconds: milliseconds))
        }
        #expect(!notes(read(0), 0), "it was not asked yet")
        #expect(notes(.peerAnswered(.knows(epoch: 1, site: .main)), 100))
        #expect(!notes(read(5_000), 5_000))
        #expect(notes(read(10_200), 10_200))
        #expect(!notes(read(30_000, leaseUntil: 60_000), 30_000), "the lease says it")
    }

    @Test func `before anything is sent the row says where, once in a term, and again where that failed`() throws {
        var contract = ProviderContract.reference
        contract.keySpace = KeySpace("west")
        let contracts = [try ProviderName("card"): contract]
        var stage = Stage(.none, contracts: contracts)
        /// What is noted and told, in order.
        func steps(_ reading: SiteReading, _ milliseconds: Int64) -> [String] {
            let began = SteadyMoment(milliseconds: milliseconds)
            return stage.take(.read(.success(reading), began: began), at: milliseconds).compactMap { job in
                switch job {
                case .noteKeySpaces(let spaces, let epoch):
                    return spaces == KeySpaces(contracts) ? "note \(epoch)" : "note something else"
                case .apply(let standing, let window):
                    _ = stage.take(.applied(standing, window), at: milliseconds)
                    return standing.isActive ? "apply" : nil
                default: return nil
                }
            }
        }
        #expect(steps(reading(), 0) == ["note 1", "apply"])
        #expect(steps(reading(), 1_000) == ["note 1"], "the store did not take it")
        _ = stage.take(.keySpacesNoted(epoch: 1), at: 1_100)
        #expect(steps(reading(), 2_000) == [], "another daemon of this site may have noted others since")
        var noted = reading(2)
        noted.row.keySpaces = KeySpaces(contracts)
        #expect(steps(noted, 3_000) == ["apply"], "it is there already")
        #expect(steps(reading(3), 4_000) == ["note 3", "apply"])
    }

    @Test func `a site that is not active notes nothing`() throws {
        var contract = ProviderContract.reference
        contract.keySpace = KeySpace("west")
        var stage = Stage(.none, contracts: [try ProviderName("card"): contract])
        let other = reading(site: try SiteName("other"))
        let jobs = stage.take(.read(.success(other), began: SteadyMoment(milliseconds: 0)), at: 0)
        #expect(!jobs.contains { if case .noteKeySpaces = $0 { true } else { false } }, "\(jobs)")
    }

    @Test func `after a standstill the row is read before anything is told`() {
        var stage = Stage(.standby)
        _ = stage.read(reading(replication: .none), at: 0)
        #expect(stage.right.told.maySettle)
        let due = stage.take(.readingIsDue, at: 60_000)
        #expect(due.count == 1, "the right ran out meanwhile; whether it is good again, the answer tells: \(due)")
        _ = stage.read(reading(replication: .none), at: 60_001)
        #expect(stage.right.told.maySettle)
        #expect(stage.right.change(at: SteadyMoment(milliseconds: 60_001)) == nil)
    }

    @Test func `a renewal that was slow is followed by the next one at once`() {
        var stage = Stage(.standby)
        _ = stage.read(reading(), at: 0)
        func asksAgain(_ milliseconds: Int64) -> Bool {
            let answer = reading(leaseUntil: 30_000)
            let jobs = stage.take(
                .renewed(epoch: 1, .success(answer), began: SteadyMoment(milliseconds: 0)), at: milliseconds)
            return jobs.contains { if case .renew = $0 { true } else { false } }
        }
        #expect(asksAgain(25_000))
        #expect(!asksAgain(25_001), "the next one is under way, or was asked for just now")
    }

    @Test func `a lease is renewed each third of it, and one renewal at a time is under way`() {
        var stage = Stage(.standby)
        let first = stage.read(reading(), at: 0)
        #expect(first, "the first right is asked for at once")
        let besideTheFirst = stage.read(reading(), at: 9_600)
        #expect(!besideTheFirst, "the first was not answered yet")
        let began = SteadyMoment(milliseconds: 0)
        let answered = stage.take(
            .renewed(epoch: 1, .success(reading(leaseUntil: 30_000)), began: began), at: 9_700)
        #expect(answered.contains { if case .renew = $0 { true } else { false } }, "a third is over")
        _ = stage.take(
            .renewed(epoch: 1, .success(reading(leaseUntil: 40_000)), began: SteadyMoment(milliseconds: 9_700)),
            at: 9_900)
        let tooSoon = stage.read(reading(leaseUntil: 40_000), at: 19_000)
        #expect(!tooSoon)
        let afterAnotherThird = stage.read(reading(leaseUntil: 40_000), at: 19_300)
        #expect(afterAnotherThird)
    }

    @Test func `a renewal that failed is tried again, and what was proven before lasts as long as it lasts`() {
        var stage = Stage(.standby)
        _ = stage.read(reading(), at: 0)
        let began = SteadyMoment(milliseconds: 0)
        for job in stage.take(.renewed(epoch: 1, .success(reading(leaseUntil: 30_000)), began: began), at: 50) {
            if case .apply(let standing, let window) = job { _ = stage.take(.applied(standing, window), at: 50) }
        }
        let failure = StoreFailure(.indeterminate, operation: "renew site", cause: "no standby confirmed")
        let second = stage.read(reading(leaseUntil: 30_000), at: 10_000)
        #expect(second)
        _ = stage.take(.renewed(epoch: 1, .failure(failure), began: SteadyMoment(milliseconds: 10_000)), at: 15_000)
        let afterTheFailure = stage.read(reading(leaseUntil: 30_000), at: 20_000)
        #expect(afterTheFailure)
        #expect(stage.right.settlesFor(at: SteadyMoment(milliseconds: 26_999)) == .milliseconds(1))
        let end = SteadyMoment(milliseconds: 27_000)
        #expect(stage.right.settlesFor(at: end) == nil, "a tenth is left for what is on the wire")
    }

    @Test func `a witness is asked before the row is written, and a refusal writes nothing`() throws {
        var stage = Stage(.postgres)
        let first = stage.read(reading(), at: 0)
        #expect(first)
        let began = SteadyMoment(milliseconds: 0)
        let refused = stage.take(.witnessed(epoch: 1, .success(false), began: began), at: 100)
        #expect(refused.allSatisfy { if case .renew = $0 { false } else { true } })
        #expect(!stage.right.standing(at: SteadyMoment(milliseconds: 100)).maySettle)
        let again = stage.read(reading(), at: 10_000)
        #expect(again)
        let given = stage.take(
            .witnessed(epoch: 1, .success(true), began: SteadyMoment(milliseconds: 10_000)), at: 12_000)
        let renewal = try #require(given.first { if case .renew = $0 { true } else { false } })
        guard case .renew(let written, let from) = renewal else { return }
        #expect(written == SiteRenewal(epoch: 1, proof: .postgres, lease: Self.lease))
        #expect(from == SteadyMoment(milliseconds: 10_000), "it counts from before the witness was asked")
    }

    @Test func `nobody is told twice at a time, and what changed meanwhile is told next`() throws {
        var stage = Stage(.none)
        let first = stage.take(.read(.success(reading()), began: SteadyMoment(milliseconds: 0)), at: 0)
        guard case .apply(let active, let window) = try #require(first.first) else {
            Issue.record("expected that it takes effect")
            return
        }
        #expect(active.epoch == 1)
        #expect(!stage.right.standing(at: SteadyMoment(milliseconds: 1)).maySettle, "nobody was told yet")
        let other = try SiteName("other")
        let second = stage.take(
            .read(.success(reading(2, site: other)), began: SteadyMoment(milliseconds: 5)), at: 5)
        #expect(second.isEmpty, "the first is under way")
        let third = stage.take(.applied(active, window), at: 10)
        let applied = third.compactMap { job -> SiteStanding? in
            if case .apply(let standing, _) = job { standing } else { nil }
        }
        #expect(applied.map(\.refusal) == [.otherSite(other, epoch: 2)])
    }

    @Test func `no lease is asked for where the term is over, another's, or nobody follows`() throws {
        let other = try SiteName("other")
        for known in [
            reading(phase: .drained), reading(phase: .demoted), reading(2, site: other), reading(replication: .none),
        ] {
            var stage = Stage(.standby)
            let isAsked = stage.read(known, at: 0)
            #expect(!isAsked, "\(known.row)")
        }
        var unproven = Stage(.none)
        let isAsked = unproven.read(reading(), at: 0)
        #expect(!isAsked)
    }

    @Test func `a witness that is away is told of, and gives no right`() throws {
        var stage = Stage(.postgres)
        var notes = 0
        for second in [Int64(0), 20, 40] {
            let isAsked = stage.read(reading(), at: second * 1_000)
            #expect(isAsked)
            let failure = StoreFailure(.unavailable, operation: "witness", cause: "no route")
            let began = SteadyMoment(milliseconds: second * 1_000)
            let jobs = stage.take(.witnessed(epoch: 1, .failure(failure), began: began), at: second * 1_000 + 100)
            notes += jobs.count { if case .note = $0 { true } else { false } }
            let standing = stage.right.standing(at: SteadyMoment(milliseconds: second * 1_000 + 100))
            #expect(!standing.maySettle)
            #expect("\(standing)".contains("no route"), "\(standing)")
        }
        #expect(notes == 3, "each question that failed, since the row was read in between")
    }
}
