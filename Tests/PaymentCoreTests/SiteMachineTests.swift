import PaymentCore
import Testing

/// Whether a process may act for its site, and until when.
@Suite struct SiteMachineTests {
    private static let lease = Span.seconds(10)
    private static func at(_ milliseconds: Int64) -> SteadyMoment { SteadyMoment(milliseconds: milliseconds) }

    private static func machine(_ proof: SiteProofKind) -> SiteMachine {
        SiteMachine(SiteMachine.Settings(site: .main, proof: proof, lease: lease))
    }

    private static func row(
        _ epoch: Int64 = 1, site: String = "main", phase: SitePhase = .active, isLeased: Bool = false,
        mode: SiteMode = .full
    ) throws -> SiteRow {
        let term = SiteTerm(
            epoch: epoch, site: try SiteName(site), since: Timestamp(milliseconds: 0), beginning: .first, by: "a",
            reason: "b")
        return SiteRow(
            term: term, mode: mode, phase: phase, leaseUntil: isLeased ? Timestamp(milliseconds: 5) : nil)
    }

    @Test func `nothing is known before the store was read`() {
        let standing = Self.machine(.none).standing(at: Self.at(0))
        #expect(standing.refusal == .notKnownYet)
        #expect(standing.epoch == nil && !standing.isActive && !standing.maySettle && !standing.mayCreate)
    }

    @Test func `one site without proof acts without a limit`() throws {
        var machine = Self.machine(.none)
        machine.handle(.read(try Self.row(), isWritable: true, began: Self.at(0)))
        let standing = machine.standing(at: Self.at(1_000_000_000))
        #expect(standing.epoch == 1 && standing.mayCreate && standing.until == nil)
    }

    @Test func `a term that was led with a lease is not gone on with without one`() throws {
        var machine = Self.machine(.none)
        machine.handle(.read(try Self.row(isLeased: true), isWritable: true, began: Self.at(0)))
        #expect(machine.standing(at: Self.at(0)).refusal == .leaseGivenUp)
    }

    @Test func `another site's term, a standby's database and a term that is over are refused`() throws {
        let cases: [(SiteRow, Bool, SiteRefusal)] = [
            (try Self.row(2, site: "other"), true, .otherSite(try SiteName("other"), epoch: 2)),
            (try Self.row(), false, .databaseIsStandby), (try Self.row(phase: .drained), true, .drained),
            (try Self.row(phase: .demoted), true, .demoted), (SiteRow(term: nil), true, .noTerm),
        ]
        for (row, isWritable, refusal) in cases {
            for proof in SiteProofKind.allCases {
                var machine = Self.machine(proof)
                machine.handle(.proven(epoch: row.epoch, began: Self.at(0)))
                machine.handle(.read(row, isWritable: isWritable, began: Self.at(0)))
                let standing = machine.standing(at: Self.at(1))
                #expect(standing.refusal == refusal)
                #expect(standing.epoch == nil)
            }
        }
    }

    @Test func `a lease counts from before its renewal was sent, and ends before it ends for others`() throws {
        var machine = Self.machine(.standby)
        machine.handle(.read(try Self.row(isLeased: true), isWritable: true, began: Self.at(0)))
        machine.handle(.unproven("the standby is silent"))
        #expect(machine.standing(at: Self.at(1)).refusal == .leaseRanOut("the standby is silent"))
        machine.handle(.proven(epoch: 1, began: Self.at(1_000)))
        #expect(machine.standing(at: Self.at(9_999)).mayCreate)
        #expect(machine.standing(at: Self.at(9_999)).until == Self.at(10_000))
        let late = machine.standing(at: Self.at(10_000))
        #expect(late.refusal == .leaseRanOut("the standby is silent") && late.epoch == nil)
        // An answer that was overtaken takes nothing away.
        machine.handle(.proven(epoch: 1, began: Self.at(8_000)))
        machine.handle(.proven(epoch: 1, began: Self.at(2_000)))
        #expect(machine.standing(at: Self.at(16_999)).isActive)
        #expect(!machine.standing(at: Self.at(17_000)).isActive)
    }

    @Test func `reading the own database again and again prolongs nothing`() throws {
        var machine = Self.machine(.standby)
        machine.handle(.proven(epoch: 1, began: Self.at(0)))
        for moment in stride(from: Int64(0), through: 20_000, by: 500) {
            machine.handle(.read(try Self.row(isLeased: true), isWritable: true, began: Self.at(moment)))
            #expect(machine.standing(at: Self.at(moment)).isActive == (moment < 9_000))
        }
    }

    @Test func `while no standby has confirmed anything the site acts, for as long as that was read lately`() throws {
        var machine = Self.machine(.standby)
        machine.handle(.read(try Self.row(), isWritable: true, began: Self.at(0)))
        #expect(machine.standing(at: Self.at(8_999)).mayCreate)
        #expect(!machine.standing(at: Self.at(9_000)).mayCreate)
        machine.handle(.read(try Self.row(), isWritable: true, began: Self.at(9_000)))
        #expect(machine.standing(at: Self.at(17_999)).mayCreate)
        // Another daemon of the site had it confirmed: from now on proof is needed here, too.
        machine.handle(.read(try Self.row(isLeased: true), isWritable: true, began: Self.at(10_000)))
        #expect(!machine.standing(at: Self.at(10_000)).mayCreate)
    }

    @Test func `with a witness the site never acts without being proven`() throws {
        var machine = Self.machine(.postgres)
        machine.handle(.read(try Self.row(), isWritable: true, began: Self.at(0)))
        #expect(!machine.standing(at: Self.at(0)).isActive)
        machine.handle(.proven(epoch: 1, began: Self.at(0)))
        #expect(machine.standing(at: Self.at(8_999)).isActive)
    }

    @Test func `a proof of another term is none`() throws {
        var machine = Self.machine(.standby)
        machine.handle(.proven(epoch: 1, began: Self.at(0)))
        machine.handle(.read(try Self.row(3, isLeased: true), isWritable: true, began: Self.at(10)))
        #expect(!machine.standing(at: Self.at(20)).isActive)
        machine.handle(.proven(epoch: 3, began: Self.at(30)))
        // Late news of the older term change nothing.
        machine.handle(.proven(epoch: 1, began: Self.at(40)))
        machine.handle(.read(try Self.row(1), isWritable: true, began: Self.at(50)))
        #expect(machine.standing(at: Self.at(60)).epoch == 3)
    }

    @Test func `a refused write ends the term here until there is a newer one`() throws {
        var machine = Self.machine(.none)
        machine.handle(.read(try Self.row(4), isWritable: true, began: Self.at(0)))
        machine.handle(.refused(epoch: 4))
        machine.handle(.read(try Self.row(4), isWritable: true, began: Self.at(10)))
        #expect(machine.standing(at: Self.at(20)).refusal == .termEnded(epoch: 4))
        machine.handle(.read(try Self.row(5), isWritable: true, began: Self.at(30)))
        #expect(machine.standing(at: Self.at(40)).epoch == 5)
    }

    @Test func `a draining site writes and begins nothing`() throws {
        var machine = Self.machine(.none)
        machine.handle(.read(try Self.row(phase: .draining), isWritable: true, began: Self.at(0)))
        let standing = machine.standing(at: Self.at(1))
        #expect(standing.epoch == 1 && standing.isDraining)
        #expect(!standing.isActive && !standing.maySettle && !standing.mayCreate)
    }

    @Test func `the mode says how much an active site does`() throws {
        let allowed: [SiteMode: (create: Bool, settle: Bool)] = [
            .full: (true, true), .settleOnly: (false, true), .readOnly: (false, false),
        ]
        for mode in SiteMode.allCases {
            var machine = Self.machine(.none)
            machine.handle(.read(try Self.row(mode: mode), isWritable: true, began: Self.at(0)))
            let standing = machine.standing(at: Self.at(1))
            #expect(standing.isActive)
            #expect(standing.mayCreate == allowed[mode]?.create && standing.maySettle == allowed[mode]?.settle)
        }
    }

    @Test func `a window covers every loss that is still open`() {
        let early = SiteRecovery(epoch: 2, loss: .promotion, at: Timestamp(milliseconds: 1_000), listingCompared: true)
        let late = SiteRecovery(epoch: 3, loss: .asynchronousPromotion, at: Timestamp(milliseconds: 5_000))
        let contracts = [ProviderContract.reference]
        #expect(RecoveryWindow.covering(nil, [], contracts: contracts) == nil)
        let one = RecoveryWindow.covering(nil, [early], contracts: contracts)
        #expect(one?.listingCompared == true)
        let both = RecoveryWindow.covering(one, [late], contracts: contracts)
        let alone = RecoveryWindow.opened(by: .asynchronousPromotion, at: late.at, contracts: contracts)
        #expect(both?.readsCountFrom == alone.readsCountFrom)
        #expect(both?.latestNotAfter == alone.latestNotAfter)
        #expect(both?.listingCompared == false)
    }
}
