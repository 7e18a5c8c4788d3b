internal import PaymentCore
internal import Reconciler

/// One sentence of the contract of witnesses, and how a witness is held to it.
public struct WitnessContractCase: Sendable, CustomStringConvertible {
    /// A fresh witness and two sites, as seen by a case.
    struct Place: Sendable {
        let subject: any WitnessSubject
        let clock: ManualClock
        let east: SiteName
        let west: SiteName
        /// The witness that the sites' rows know.
        var known: WitnessID?
        let lease = Span.seconds(10)
        let skew = Span.seconds(1)

        var witness: any SiteWitness { subject.witness }
        /// A lease is written as if it began that late, and read as if it was that early.
        var blur: Span { subject.coarseness + subject.coarseness }

        func claim(_ site: SiteName, _ epoch: Int64) -> WitnessClaim {
            WitnessClaim(site, epoch: epoch, lease: lease, skew: skew, witness: known)
        }

        func renew(_ site: SiteName, _ epoch: Int64) async throws -> Bool {
            try await witness.renew(claim(site, epoch))
        }

        func take(_ site: SiteName, _ epoch: Int64, isFenced: Bool = false) async throws -> Bool {
            try await witness.take(claim(site, epoch), isFenced: isFenced)
        }

        func look(_ site: SiteName) async throws -> PromotionEvidence.Witness {
            try await witness.look(skew: skew).evidence(for: site, knowing: known)
        }

        /// That another has it in a term, for so long or as much longer as its clock is read coarsely.
        func requireHeld(for left: Span, epoch: Int64, as seen: SiteName, _ what: String) async throws {
            guard case .held(let shown, epoch) = try await look(seen), left <= shown, shown <= left + blur else {
                throw ContractViolation(
                    description: "\(what): expected held for \(left) in term \(epoch), is \(try await look(seen))")
            }
        }

        /// That it does not answer, in time.
        func requireSilence(_ witness: any SiteWitness) async throws {
            let began = ContinuousClock.now
            for question in 0..<3 {
                do throws(StoreFailure) {
                    switch question {
                    case 0: _ = try await witness.look(skew: skew)
                    case 1: _ = try await witness.renew(claim(east, 1))
                    default: _ = try await witness.take(claim(west, 2), isFenced: true)
                    }
                } catch {
                    try require(error.isPassing, is: true, "whether \(error) may pass")
                    continue
                }
                throw ContractViolation(description: "it answered question \(question)")
            }
            let took = ContinuousClock.now - began
            try require(took < .seconds(60), is: true, "whether \(took) is soon enough")
        }

        /// That it gives nobody a right, with the reason.
        func requireRefusal(_ word: String, _ body: () async throws -> Bool) async throws {
            do {
                _ = try await body()
            } catch let failure as StoreFailure {
                try require(failure.code, is: .incompatible, "the refusal's code")
                try require(failure.cause.contains(word), is: true, "whether '\(failure.cause)' says '\(word)'")
                return
            }
            throw ContractViolation(description: "it gave a right that proves nothing")
        }
    }

    /// The sentence.
    public let name: String
    private let isFounded: Bool
    private let body: @Sendable (Place) async throws -> Void

    private init(
        _ name: String, isFounded: Bool = true, _ body: @escaping @Sendable (Place) async throws -> Void
    ) {
        self.name = name
        self.isFounded = isFounded
        self.body = body
    }

    public var description: String { name }

    /// Holds a fresh witness to it.
    ///
    /// - Throws: ``ContractViolation``, or what the witness threw.
    public func check(
        _ withWitness: (ManualClock, @Sendable (any WitnessSubject) async throws -> Void) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let (east, west) = (try SiteName("east"), try SiteName("west"))
        try await withWitness(clock) { subject in
            var stage = Place(subject: subject, clock: clock, east: east, west: west)
            if isFounded { stage.known = try await subject.witness.found(skew: stage.skew).identity }
            try await body(stage)
        }
    }

    /// The whole contract.
    public static let all = rights + mishaps

    private static let rights: [WitnessContractCase] = [
        WitnessContractCase("nobody has a right that nobody asked for") { it in
            try require(try await it.look(it.east), is: .free(epoch: 0), "what is seen")
        },
        WitnessContractCase("another site waits until the lease and the skew are over, to the millisecond") { it in
            // Late in a second: who cuts it off must not let the right end early.
            it.clock.advance(by: .milliseconds(900))
            try require(try await it.renew(it.east, 1), is: true, "whether the first has it")
            try await it.requireHeld(for: .seconds(11), epoch: 1, as: it.west, "what the other sees")
            it.clock.advance(by: .milliseconds(10_999))
            try require(try await it.renew(it.west, 2), is: false, "whether the other has it too early")
            try await it.requireHeld(for: .milliseconds(1), epoch: 1, as: it.west, "what is left")
            it.clock.advance(by: .milliseconds(1) + it.blur)
            try require(try await it.look(it.west), is: .free(epoch: 1), "what the other sees then")
            try require(try await it.take(it.west, 2), is: true, "whether the other has it then")
        },
        WitnessContractCase("a renewal begins the lease anew") { it in
            _ = try await it.renew(it.east, 1)
            it.clock.advance(by: .seconds(9))
            try require(try await it.renew(it.east, 1), is: true, "whether it is renewed")
            it.clock.advance(by: .seconds(9))
            try require(try await it.take(it.west, 2), is: false, "whether another has it")
        },
        WitnessContractCase("a replica with a shorter lease does not shorten the one of another replica") { it in
            _ = try await it.renew(it.east, 1)
            it.clock.advance(by: .seconds(1))
            var shorter = it.claim(it.east, 1)
            shorter.lease = .seconds(3)
            let renewed = try await it.witness.renew(shorter)
            try require(renewed, is: true, "whether it is renewed")
            try await it.requireHeld(for: .seconds(10), epoch: 1, as: it.west, "what the other sees")
        },
        WitnessContractCase("a clock that is set back does not shorten a lease") { it in
            _ = try await it.renew(it.east, 1)
            it.clock.advance(by: .seconds(-4))
            try require(try await it.renew(it.east, 1), is: true, "whether it is renewed")
            it.clock.advance(by: .seconds(13))
            try require(try await it.take(it.west, 2), is: false, "whether another has it a second before the end")
        },
        WitnessContractCase("a site whose lease ran out goes on if nobody took its place") { it in
            _ = try await it.renew(it.east, 1)
            it.clock.advance(by: .minutes(5))
            try require(try await it.renew(it.east, 1), is: true, "whether it is renewed")
            try await it.requireHeld(for: .seconds(11), epoch: 1, as: it.west, "what the other sees")
        },
        WitnessContractCase("a site's own right is no obstacle to itself") { it in
            _ = try await it.renew(it.east, 1)
            try require(try await it.look(it.east), is: .own(epoch: 1), "what it sees")
            try require(try await it.take(it.east, 2), is: true, "whether it has its next term")
            try require(try await it.renew(it.east, 1), is: false, "whether it goes back to the term before")
        },
        WitnessContractCase("a term that is over is never renewed, whatever the clock says") { it in
            _ = try await it.renew(it.east, 1)
            it.clock.advance(by: .seconds(11) + it.blur)
            _ = try await it.take(it.west, 2)
            it.clock.advance(by: .minutes(5))
            try require(try await it.renew(it.east, 1), is: false, "whether the old site is back")
            try require(try await it.renew(it.west, 2), is: true, "whether the new one goes on")
        },
        WitnessContractCase("two sites never have the right in one term, even if somebody fenced one") { it in
            _ = try await it.renew(it.east, 2)
            try require(try await it.take(it.west, 2, isFenced: true), is: false, "in the same term")
            try require(try await it.take(it.west, 1, isFenced: true), is: false, "in an earlier term")
        },
        WitnessContractCase("who fenced a site need not wait for its lease") { it in
            _ = try await it.renew(it.east, 1)
            try require(try await it.take(it.west, 2), is: false, "without the word")
            try require(try await it.take(it.west, 2, isFenced: true), is: true, "with it")
            try require(try await it.renew(it.east, 1), is: false, "the site that was fenced")
        },
        WitnessContractCase("a right that is given back is free at once, and only its holder gives it back") { it in
            _ = try await it.renew(it.east, 1)
            try await it.witness.release(it.west, epoch: 1)
            try await it.witness.release(it.east, epoch: 2)
            try await it.requireHeld(for: .seconds(11), epoch: 1, as: it.west, "after others gave it back")
            try await it.witness.release(it.east, epoch: 1)
            try require(try await it.look(it.west), is: .free(epoch: 1), "after its holder did")
            try require(try await it.take(it.west, 2), is: true, "whether the next has it")
        },
        WitnessContractCase("the right to a term that never began is taken again, and passed over by the other site") {
            it in
            _ = try await it.renew(it.east, 1)
            try require(try await it.take(it.west, 2, isFenced: true), is: true, "whether it is taken")
            try require(try await it.take(it.west, 2), is: true, "whether it is taken again")
            try require(try await it.look(it.west), is: .own(epoch: 2), "what its site sees")
            try await it.requireHeld(for: .seconds(11), epoch: 2, as: it.east, "what the other sees")
            try require(try await it.take(it.east, 3, isFenced: true), is: true, "whether the other takes the next")
        },
        WitnessContractCase("a witness is founded once", isFounded: false) { it in
            let first = try require(try await it.witness.found(skew: it.skew).identity, "its identity")
            try require(try await it.witness.found(skew: it.skew).identity, is: first, "its identity, asked again")
            try require(try await it.witness.look(skew: it.skew).identity, is: first, "its identity, looked at")
        },
        WitnessContractCase("what nobody founded proves nothing, and goes on as before", isFounded: false) { it in
            try require(try await it.renew(it.east, 1), is: true, "whether the active site is renewed")
            it.clock.advance(by: .minutes(1))
            try require(try await it.look(it.west), is: .unproven(.notFounded), "what the other sees")
            // Founded, and the row does not say so yet.
            _ = try await it.witness.found(skew: it.skew)
            try require(try await it.renew(it.east, 1), is: true, "whether the active site is renewed then")
            try await it.requireRefusal("knows no witness") { try await it.take(it.west, 2, isFenced: true) }
        },
        WitnessContractCase("an empty witness, and another than the row knows, give nobody a right", isFounded: false) {
            it in
            let known = try require(WitnessID(text: "wit_" + String(repeating: "a", count: 32)), "an identity")
            var knowing = it
            knowing.known = known
            try require(try await knowing.look(it.west), is: .unproven(.empty(known)), "what an empty one proves")
            try await it.requireRefusal("it is empty") { try await knowing.renew(it.east, 1) }
            let other = try require(try await it.witness.found(skew: it.skew).identity, "its identity")
            try require(
                try await knowing.look(it.west), is: .unproven(.other(other, known: known)), "what another proves")
            try await it.requireRefusal(other.text) { try await knowing.renew(it.east, 1) }
            try await it.requireRefusal(other.text) { try await knowing.take(it.west, 2, isFenced: true) }
            try require(try await it.witness.look(skew: it.skew).right, is: nil, "the right there")
        },
    ]

    /// What may happen to its place.
    private static let mishaps: [WitnessContractCase] = [
        WitnessContractCase("one that lost all that it knew gives nobody a right, until it is founded anew") { it in
            try require(try await it.renew(it.east, 1), is: true, "whether the first has it")
            try await it.subject.wipe()
            let known = try require(it.known, "its identity")
            try require(try await it.look(it.west), is: .unproven(.empty(known)), "what it proves")
            try await it.requireRefusal("it is empty") { try await it.renew(it.east, 1) }
            try await it.requireRefusal("it is empty") { try await it.take(it.west, 2, isFenced: true) }
            let founded = try require(try await it.witness.found(skew: it.skew).identity, "its new identity")
            try require(founded != known, is: true, "whether it is another one")
            try require(
                try await it.look(it.west), is: .unproven(.other(founded, known: known)), "what it proves then")
        },
        WitnessContractCase("one that was put back to an earlier copy gives the later term no right too early") { it in
            _ = try await it.renew(it.east, 1)
            let putBack = try await it.subject.copied()
            try require(try await it.take(it.west, 2, isFenced: true), is: true, "whether the other has it")
            try await putBack()
            try await it.requireHeld(for: .seconds(11), epoch: 1, as: it.west, "what is seen")
            try require(try await it.renew(it.west, 2), is: false, "whether the later term is renewed")
            it.clock.advance(by: .seconds(11) + it.blur)
            try require(try await it.renew(it.west, 2), is: true, "whether it is once the lease of the copy is over")
            try require(try await it.renew(it.east, 1), is: false, "whether the earlier one is")
        },
        WitnessContractCase("one that does not answer, or is not there, is given up in time, and gives nobody a right")
        {
            it in
            try require(try await it.renew(it.east, 1), is: true, "whether the first has it")
            try await it.subject.whileSilent { try await it.requireSilence(it.witness) }
            try await it.requireSilence(try await it.subject.elsewhere())
            // Whatever reached it meanwhile, or does so yet: it is one site's, and that site's alone.
            for attempt in 0..<100 {
                let right = try require(try await it.witness.look(skew: it.skew).right, "the right")
                guard try await it.renew(right.site, right.epoch) else {
                    try require(attempt < 99, is: true, "whether its holder goes on at last")
                    continue
                }
                let other = right.site == it.east ? it.west : it.east
                try require(try await it.renew(other, right.epoch), is: false, "whether the other has it too")
                break
            }
        },
        WitnessContractCase("of all that ask at once for the right that is free, one site has it") { it in
            for epoch in Int64(1)...4 {
                it.clock.advance(by: .seconds(11) + it.blur)
                let sites = try await withThrowingTaskGroup(of: SiteName?.self) { group in
                    for site in [it.east, it.west, it.east, it.west] {
                        group.addTask { try await it.take(site, epoch) ? site : nil }
                    }
                    return try await group.reduce(into: Set<SiteName>()) { sites, site in
                        if let site { sites.insert(site) }
                    }
                }
                try require(sites.count, is: 1, "how many sites have the right to term \(epoch)")
            }
        },
    ]
}
