internal import PaymentCore
public import Reconciler

/// One sentence of the contract of stores that several sites share, and how a store is held to it.
public struct SiteContractCase: Sendable, CustomStringConvertible {
    /// A store of the site `main`, as seen by a case.
    struct Siting: Sendable {
        let store: any PaymentStore & SiteStore
        let clock: ManualClock
        var payments: Scenario { Scenario(store: store, clock: clock) }

        /// The row as it is stored.
        func row() async throws -> SiteRow { try await store.siteReading().row }

        /// A term that follows another.
        func term(_ epoch: Int64, _ site: SiteName = .main) -> SiteTerm {
            SiteTerm(
                epoch: epoch, site: site, since: Timestamp(milliseconds: 0), beginning: .promotion, by: "hana",
                approvedBy: "ken", reason: "a test", fencedBy: "nobody", dataLossAccepted: "none",
                contractsAccepted: "all")
        }
    }

    /// The sentence.
    public let name: String
    private let body: @Sendable (Siting) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Siting) async throws -> Void) {
        self.name = name
        self.body = body
    }

    public var description: String { name }

    /// Holds a fresh store of the site `main` to it.
    ///
    /// - Throws: ``ContractViolation``, or what the store threw.
    public func check(
        _ withStore: (ManualClock, @Sendable (any PaymentStore & SiteStore) async throws -> Void) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        try await withStore(clock) { store in try await body(Siting(store: store, clock: clock)) }
    }

    /// The whole contract.
    public static let all: [SiteContractCase] = terms + ends + leases
}

extension SiteContractCase {
    private static let terms: [SiteContractCase] = [
        SiteContractCase("a new store begins with the first term of its site") { it in
            let row = try await it.row()
            try require(row.term?.epoch, is: 1, "the number")
            try require(row.term?.site, is: .main, "the site")
            try require(row.term?.beginning, is: .first, "how it began")
            try require(row.phase, is: .active, "the phase")
            try require(row.mode, is: .full, "the mode")
            try require(row.leaseUntil, is: nil, "the lease")
            try require(try await it.store.siteTerms(limit: 10).map(\.epoch), is: [1], "the terms")
        },
        SiteContractCase("a store has one identity, whatever term it is in") { it in
            let identity = try require(try await it.store.siteReading().store, "the identity")
            _ = try require(try await it.store.beginTerm(it.term(2), loss: .promotion), "the next term")
            try require(try await it.store.siteReading().store, is: identity, "the identity in the next term")
        },
        SiteContractCase("a term reads back with who began it and why, and its loss stays open") { it in
            it.clock.advance(by: .seconds(3))
            let term = it.term(2)
            let begun = try require(try await it.store.beginTerm(term, loss: .asynchronousPromotion), "the new row")
            var expected = term
            expected.since = it.clock.now()
            try require(begun.term, is: expected, "the term, by the store's clock")
            try require(try await it.row(), is: begun, "what is stored")
            let before = it.clock.now() + (Span.zero - .seconds(3))
            let loss = SiteRecovery(
                epoch: 2, loss: .asynchronousPromotion, at: it.clock.now(), keptUntil: before)
            try require(begun.recoveries, is: [loss], "the losses, and since when rows may be missing")
            let next = try require(try await it.store.beginTerm(it.term(3), loss: .promotion), "the next row")
            try require(next.recoveries.map(\.epoch), is: [2, 3], "the losses of both")
            try require(try await it.store.siteTerms(limit: 2).map(\.epoch), is: [3, 2], "the newest terms")
        },
        SiteContractCase("a loss says of which moment a row is still here: the newest payment, or the term before") {
            it in
            it.clock.advance(by: .seconds(3))
            let work = try await it.payments.create(Scenario.Order("k1"))
            it.clock.advance(by: .seconds(3))
            let first = try require(try await it.store.beginTerm(it.term(2), loss: .restore), "the row")
            try require(first.recoveries.last?.keptUntil, is: work.payment.updatedAt, "the newest payment")
            it.clock.advance(by: .seconds(3))
            let next = try require(try await it.store.beginTerm(it.term(3), loss: .restore), "the next row")
            try require(next.recoveries.last?.keptUntil, is: first.term?.since, "the term before")
            try require(try await it.row(), is: next, "what is stored")
        },
        SiteContractCase("of two that begin a term at the same moment one does") { it in
            let begun = try await withThrowingTaskGroup(of: Bool.self) { group in
                for _ in 0..<6 {
                    group.addTask { try await it.store.beginTerm(it.term(2), loss: nil) != nil }
                }
                return try await group.reduce(into: [Bool]()) { $0.append($1) }
            }
            try require(begun.count { $0 }, is: 1, "how many began it")
            try require(try await it.store.beginTerm(it.term(2), loss: nil) == nil, "it began before")
            try require(try await it.store.beginTerm(it.term(9), loss: nil) == nil, "another term was seen")
            try require(
                try await it.store.beginTerm(it.term(2), after: 2, loss: nil) == nil, "a number that is not above")
            let later = try require(
                try await it.store.beginTerm(it.term(9), after: 2, loss: nil), "numbers may be left out")
            try require(later.epoch, is: 9, "the newest term")
            try require(try await it.row().epoch, is: 9, "the number")
        },
        SiteContractCase("a new term ends the leases on payments, and the mode stays") { it in
            let work = try await it.payments.create(Scenario.Order("k1"))
            try require(try await it.store.paymentsInWork(), is: 1, "payments in work")
            _ = try await it.store.changeSite(.mode(.settleOnly), epoch: 1)
            let row = try require(try await it.store.beginTerm(it.term(2), loss: nil), "the row")
            try require(row.mode, is: .settleOnly, "the mode")
            try require(try await it.store.paymentsInWork(), is: 0, "payments in work")
            let claimed = try require(
                try await it.store.claim(work.payment.id, holder: "next", leaseFor: .minutes(1)), "the claim")
            try require(claimed.token, is: LeaseToken(2), "the next token")
        },
    ]

    private static let ends: [SiteContractCase] = [
        SiteContractCase("nothing is written once another site's term began, and who writes is told") { it in
            let work = try await it.payments.create(Scenario.Order("k1"))
            let endings = it.store.endedTerms()
            _ = try await it.store.beginTerm(it.term(2, try SiteName("other")), loss: nil)
            try await refuseWrites(it, work)
            for await epoch in endings {
                try require(epoch, is: 1, "the term that ended")
                break
            }
            try require(try await it.store.payment(work.payment.id), is: work.payment, "the payment")
        },
        SiteContractCase("nothing is written in a term that is drained or demoted, which stays so") { it in
            for (epoch, phase) in [(Int64(1), SitePhase.drained), (2, .demoted)] {
                let work = try await it.payments.create(Scenario.Order("k\(epoch)"))
                let draining = try await it.store.changeSite(.phase(.draining), epoch: epoch)
                try require(draining?.phase, is: .draining, "the phase")
                try await it.store.release(work.payment.id, token: work.token)
                let row = try require(try await it.store.changeSite(.phase(phase), epoch: epoch), "the row")
                try require(row.finalPosition != nil, "the end of the log is kept")
                try await refuseWrites(it, work)
                let back = try await it.store.changeSite(.phase(.active), epoch: epoch)
                try require(back == nil, "what is over stays over")
                try require(try await it.row(), is: row, "what is stored")
                _ = try await it.store.beginTerm(it.term(epoch + 1), loss: nil)
            }
        },
        SiteContractCase("a process without a term writes nothing, and with it writes again") { it in
            let work = try await it.payments.create(Scenario.Order("k1"))
            it.store.write(under: nil)
            try await refuseWrites(it, work)
            it.store.write(under: 1)
            try await it.store.release(work.payment.id, token: work.token)
            try require(try await it.store.paymentsInWork(), is: 0, "payments in work")
        },
        SiteContractCase("a process that goes on in an older term of its own site is refused") { it in
            let work = try await it.payments.create(Scenario.Order("k1"))
            _ = try await it.store.beginTerm(it.term(2), loss: nil)
            it.store.write(under: 1)
            try await refuseWrites(it, work)
            it.store.write(under: 2)
            _ = try await it.payments.create(Scenario.Order("k2"))
        },
        SiteContractCase("a change of another term than the newest is not made") { it in
            _ = try await it.store.beginTerm(it.term(2), loss: .restore)
            let before = try await it.row()
            let changes: [SiteChange] = [.phase(.demoted), .mode(.readOnly), .compared(epochOfLoss: 2)]
            for change in changes {
                let done = try await it.store.changeSite(change, epoch: 1)
                try require(done == nil, "\(change) of an older term")
            }
            try require(try await it.row(), is: before, "the row")
        },
        SiteContractCase("the listings of a loss are noted as compared, and its window is closed") { it in
            _ = try await it.store.beginTerm(it.term(2), loss: .restore)
            let compared = try await it.store.changeSite(.compared(epochOfLoss: 2), epoch: 2)
            try require(compared?.recoveries.first?.listingCompared, is: true, "the note")
            let other = try await it.store.changeSite(.recovered(epochOfLoss: 1), epoch: 2)
            try require(other == nil, "there is no loss of another term")
            let closed = try await it.store.changeSite(.recovered(epochOfLoss: 2), epoch: 2)
            try require(closed?.recoveries, is: [], "the losses")
        },
        SiteContractCase("the witness is known from when it is noted on, in later terms too") { it in
            try require(try await it.row().witness == nil, "nobody founded one")
            let identity = try require(WitnessID(text: "wit_" + String(repeating: "a", count: 32)), "an identity")
            let known = KnownWitness(identity: identity, since: it.clock.now(), by: "hana", fencedBy: "it is off")
            let noted = try await it.store.changeSite(.witness(known), epoch: 1)
            try require(noted?.witness, is: known, "the note")
            let next = try require(try await it.store.beginTerm(it.term(2), loss: nil), "the next term")
            try require(next.witness, is: known, "the note in the next term")
            try require(try await it.row(), is: next, "what is stored")
        },
        SiteContractCase("key spaces are known from when they are noted on, in later terms too") { it in
            try require(try await it.row().keySpaces, is: KeySpaces(), "nobody noted one")
            let noted = try await it.store.changeSite(.keySpaces(try spaces("card", "west")), epoch: 1)
            try require(noted?.keySpaces, is: try spaces("card", "west"), "the note")
            let next = try require(try await it.store.beginTerm(it.term(2), loss: nil), "the next term")
            try require(next.keySpaces, is: try spaces("card", "west"), "the note in the next term")
            let moved = try await it.store.changeSite(.keySpaces(try spaces("points", "east")), epoch: 2)
            try require(moved?.keySpaces.byProvider.count, is: 2, "what was known of other providers stays")
            let again = try require(
                try await it.store.changeSite(.keySpaces(try spaces("card", "east")), epoch: 2), "the row")
            try require(again.keySpaces.byProvider["card"]?.name, is: "east", "the newest note of a provider")
            try require(try await it.row(), is: again, "what is stored")
        },
    ]

    private static func spaces(_ provider: String, _ space: String) throws -> KeySpaces {
        var contract = ProviderContract.reference
        contract.keySpace = KeySpace(space)
        return KeySpaces([try ProviderName(provider): contract])
    }

    private static let leases: [SiteContractCase] = [
        SiteContractCase("that a site acts without a lease is in the row, by the store's clock, from its term on") {
            it in
            try require(try await it.row().aliveAt, is: it.clock.now(), "the beginning of the first term")
            it.clock.advance(by: .seconds(4))
            try await it.store.noteAlive(epoch: 1)
            let noted = it.clock.now()
            try require(try await it.row().aliveAt, is: noted, "the note")
            it.clock.advance(by: .seconds(4))
            try await it.store.noteAlive(epoch: 2)
            try require(try await it.row().aliveAt, is: noted, "after a note of another term")
            _ = try await it.store.beginTerm(it.term(2), loss: nil)
            try require(try await it.row().aliveAt, is: it.clock.now(), "the beginning of the next term")
            let began = it.clock.now()
            _ = try await it.store.changeSite(.phase(.demoted), epoch: 2)
            it.clock.advance(by: .seconds(4))
            try await it.store.noteAlive(epoch: 2)
            try require(try await it.row().aliveAt, is: began, "after a note of a term that is over")
        },
        SiteContractCase("a lease that a witness proves is in the row, by the store's clock") { it in
            let renewal = SiteRenewal(epoch: 1, proof: .postgres, lease: .seconds(10))
            let reading = try require(try await it.store.renewSite(renewal), "the reading")
            try require(reading.row.leaseUntil, is: it.clock.now() + .seconds(10), "the end")
            try require(reading.row.proof, is: .postgres, "the proof")
            it.clock.advance(by: .seconds(4))
            try require(
                try await it.store.renewSite(renewal)?.row.leaseUntil, is: it.clock.now() + .seconds(10), "the end")
            try require(
                try await it.store.beginTerm(it.term(2), loss: nil)?.leaseUntil, is: nil, "the new term's lease")
        },
        SiteContractCase("a lease never ends earlier than another replica was told") { it in
            let (long, short) = (Span.seconds(60), Span.seconds(10))
            let end = it.clock.now() + long
            _ = try await it.store.renewSite(SiteRenewal(epoch: 1, proof: .postgres, lease: long))
            it.clock.advance(by: .seconds(5))
            let renewed = try await it.store.renewSite(SiteRenewal(epoch: 1, proof: .postgres, lease: short))
            try require(renewed?.row.leaseUntil, is: end, "the end")
            try require(try await it.row().leaseUntil, is: end, "the end as it is read")
        },
        SiteContractCase("without a standby that confirms it the standby proves nothing") { it in
            let renewal = SiteRenewal(epoch: 1, proof: .standby, lease: .seconds(10))
            try await require(.unavailable, from: { _ = try await it.store.renewSite(renewal) })
            try require(try await it.row().leaseUntil, is: nil, "the lease")
        },
        SiteContractCase("a lease of a term that is over is not renewed") { it in
            _ = try await it.store.changeSite(.phase(.demoted), epoch: 1)
            for epoch in [Int64(1), 2] {
                let renewal = SiteRenewal(epoch: epoch, proof: .postgres, lease: .seconds(10))
                let renewed = try await it.store.renewSite(renewal)
                try require(renewed == nil, "the renewal of term \(epoch)")
            }
        },
    ]

    /// Each way in which a payment is written is refused, and writes nothing.
    private static func refuseWrites(_ it: Siting, _ work: Work) async throws {
        let (store, id) = (it.store, work.payment.id)
        let answer = StoredAnswer(status: 200, contentType: "text/plain", location: nil, body: [])
        let (caller, key) = (work.payment.caller, work.payment.key)
        let request = ClaimRequest(holder: "w", limit: 1, leaseFor: .seconds(1))
        var work = work
        let context = try it.payments.context()
        _ = work.machine.handle(.inquireNow, context)
        let change = work.change(.none)
        let inWork = try await store.paymentsInWork()
        try await require(.inactive, from: { _ = try await it.payments.create(Scenario.Order("new")) })
        try await require(.inactive, from: { _ = try await store.commit(change) })
        try await require(.inactive, from: { _ = try await store.claimDue(request) })
        try await require(.inactive, from: { _ = try await store.claim(id, holder: "w", leaseFor: .seconds(1)) })
        try await require(.inactive, from: { _ = try await store.renew([id: work.token], leaseFor: .seconds(1)) })
        try await require(.inactive, from: { try await store.release(id, token: work.token) })
        try await require(.inactive, from: { _ = try await store.storeAnswer(answer, caller: caller, key: key) })
        try await require(.inactive, from: { _ = try await store.seal() })
        try require(try await store.paymentsInWork(), is: inWork, "payments in work")
        try require(try await store.idempotencyRecord(caller: caller, key: key)?.answer == nil, "no answer is kept")
    }
}
