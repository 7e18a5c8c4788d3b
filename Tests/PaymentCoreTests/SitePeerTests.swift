import PaymentCore
import Testing

/// What a site is told by the other one, and what it may do where nobody follows it: a database that was made from an
/// old copy says what it said then.
@Suite struct SitePeerTests {
    private static let minute = Span.minutes(1)
    private static func at(_ milliseconds: Int64) -> SteadyMoment { SteadyMoment(milliseconds: milliseconds) }
    private static let now = Timestamp(milliseconds: 1_800_000_000_000)

    private func west() throws -> SiteName { try SiteName("west") }

    private func machine(_ proof: SiteProofKind) throws -> SiteMachine {
        SiteMachine(
            SiteMachine.Settings(
                site: .main, proof: proof, lease: .seconds(10), peer: try west(), resumesAloneWithin: .minutes(15)))
    }

    /// A row of this site's term, which the site wrote so long ago.
    private func row(_ epoch: Int64 = 1, ago: Span = .days(30), isLeased: Bool = false, fencedBy: String? = nil)
        -> SiteRow
    {
        let term = SiteTerm(
            epoch: epoch, site: .main, since: SitePeerTests.now + (Span.zero - .days(60)), beginning: .first, by: "a",
            reason: "b", fencedBy: fencedBy)
        return SiteRow(
            term: term, leaseUntil: isLeased ? SitePeerTests.now : nil,
            aliveAt: SitePeerTests.now + (Span.zero - ago))
    }

    private func read(_ row: SiteRow, _ milliseconds: Int64 = 0) -> SiteMachine.Input {
        .read(row, isWritable: true, began: SitePeerTests.at(milliseconds), now: SitePeerTests.now)
    }

    @Test func `nothing is done before the other site was asked`() throws {
        for proof in SiteProofKind.allCases {
            var machine = try machine(proof)
            machine.handle(read(row(ago: .seconds(1))))
            machine.handle(.proven(epoch: 1, began: Self.at(0)))
            #expect(machine.standing(at: Self.at(1)).refusal == .peerNotAsked(try west()), "\(proof)")
            machine.handle(.peer(.silent("no answer")))
            #expect(machine.standing(at: Self.at(1)).isActive, "\(proof)")
        }
    }

    @Test func `a newer term at the other site ends this one, however its right is proven`() throws {
        for proof in SiteProofKind.allCases {
            var machine = try machine(proof)
            machine.handle(read(row(ago: .seconds(1))))
            machine.handle(.proven(epoch: 1, began: Self.at(0)))
            machine.handle(.peer(.knows(epoch: 1, site: .main)))
            #expect(machine.standing(at: Self.at(1)).isActive, "\(proof)")
            machine.handle(.peer(.knows(epoch: 2, site: try west())))
            #expect(machine.standing(at: Self.at(1)).refusal == .otherSite(try west(), epoch: 2))
            #expect(machine.standing(at: Self.at(1)).activeSite == (try west()), "callers are sent there")
            // What was known stays known when it does not answer any more, or answers from a copy of its own.
            machine.handle(.peer(.silent("no answer")))
            machine.handle(.peer(.knows(epoch: 1, site: .main)))
            #expect(machine.standing(at: Self.at(1)).refusal == .otherSite(try west(), epoch: 2))
            // This site is given a newer one.
            machine.handle(read(row(3), 5))
            machine.handle(.proven(epoch: 3, began: Self.at(5)))
            #expect(machine.standing(at: Self.at(6)).epoch == 3)
        }
    }

    @Test func `of two sites in terms of one number, only one that proves its right goes on`() throws {
        for proof in SiteProofKind.allCases {
            var machine = try machine(proof)
            machine.handle(read(row(2, ago: .seconds(1))))
            machine.handle(.peer(.knows(epoch: 2, site: try west())))
            #expect(machine.standing(at: Self.at(1)).refusal == .otherSite(try west(), epoch: 2))
            machine.handle(.proven(epoch: 2, began: Self.at(0)))
            #expect(machine.standing(at: Self.at(1)).isActive)
        }
    }

    @Test func `an old copy that nobody follows is no permission while the other site is silent`() throws {
        var machine = try machine(.standby)
        machine.handle(read(row()))
        machine.handle(.peer(.silent("no answer")))
        let refusal = SiteRefusal.peerSilent(try west(), "no answer")
        #expect(machine.standing(at: Self.at(1)).refusal == refusal)
        #expect("\(refusal)".contains("promote --fenced-by"))
        // Reading it again makes it no younger.
        machine.handle(read(row(), 500))
        #expect(machine.standing(at: Self.at(501)).refusal == refusal)
        // The other site answers, and knows no newer term.
        machine.handle(.peer(.knows(epoch: 1, site: .main)))
        #expect(machine.standing(at: Self.at(501)).mayCreate)
        machine.handle(.peer(.silent("it stopped again")))
        #expect(machine.standing(at: Self.at(501)).mayCreate, "it was asked before the first act")
    }

    @Test func `what shows that it is no old copy permits`() throws {
        let cases: [(SiteRow, isActive: Bool, words: String)] = [
            (row(ago: .minutes(14)), true, "it acted a short while ago"),
            (row(ago: .minutes(16)), false, "it stood still for long"),
            (row(fencedBy: "the power is off"), true, "people said what keeps the other one down"),
        ]
        for (row, isActive, words) in cases {
            var machine = try machine(.standby)
            machine.handle(read(row))
            machine.handle(.peer(.silent("no answer")))
            #expect(machine.standing(at: Self.at(1)).isActive == isActive, "\(words)")
        }
        // The term began while this process looked.
        var machine = try machine(.standby)
        machine.handle(read(row(1)))
        machine.handle(.peer(.silent("no answer")))
        machine.handle(read(row(2), 500))
        #expect(machine.standing(at: Self.at(501)).epoch == 2)
        // A standby confirmed the lease: that is a follower, and proof.
        machine = try self.machine(.standby)
        machine.handle(read(row()))
        machine.handle(.peer(.silent("no answer")))
        machine.handle(.proven(epoch: 1, began: Self.at(0)))
        #expect(machine.standing(at: Self.at(1)).isActive)
    }

    @Test func `a term that people begin with words about the other site is not held up by what it told before`() throws
    {
        for proof in SiteProofKind.allCases {
            var machine = try machine(proof)
            machine.handle(read(row(1, ago: .seconds(1))))
            machine.handle(.peer(.knows(epoch: 7, site: try west())))
            #expect(machine.standing(at: Self.at(1)).refusal == .otherSite(try west(), epoch: 7))
            // Its database is lost, and people begin a term here from a copy that never knew those of the other site.
            machine.handle(.peer(.silent("it is switched off")))
            machine.handle(read(row(2), 5))
            machine.handle(.proven(epoch: 2, began: Self.at(5)))
            #expect(machine.standing(at: Self.at(6)).refusal == .otherSite(try west(), epoch: 7), "nobody said a word")
            machine.handle(read(row(3, fencedBy: "its power is off"), 10))
            machine.handle(.proven(epoch: 3, began: Self.at(10)))
            #expect(machine.standing(at: Self.at(11)).epoch == 3, "\(proof)")
            // Reading the same row again forgets nothing that the other site tells after all.
            machine.handle(.peer(.knows(epoch: 7, site: try west())))
            machine.handle(read(row(3, fencedBy: "its power is off"), 20))
            #expect(machine.standing(at: Self.at(21)).refusal == .otherSite(try west(), epoch: 7))
        }
    }

    @Test func `a site without a peer that can be asked is not held up`() {
        var machine = SiteMachine(SiteMachine.Settings(site: .main, proof: .standby, lease: .seconds(10)))
        machine.handle(read(row()))
        #expect(machine.standing(at: Self.at(1)).mayCreate)
    }
}
