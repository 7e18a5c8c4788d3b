internal import PaymentCore
public import Reconciler

/// One sentence of the contract of witnesses, and how a witness is held to it.
public struct WitnessContractCase: Sendable, CustomStringConvertible {
    /// A fresh witness and two sites, as seen by a case.
    struct Place: Sendable {
        let witness: any SiteWitness
        let clock: ManualClock
        let east: SiteName
        let west: SiteName
        /// The witness that the sites' rows know.
        var known: WitnessID?
        let lease = Span.seconds(10)
        let skew = Span.seconds(1)

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
        _ withWitness: (ManualClock, @Sendable (any SiteWitness) async throws -> Void) async throws -> Void
    ) async throws {
        let clock = ManualClock()
        let (east, west) = (try SiteName("east"), try SiteName("west"))
        try await withWitness(clock) { witness in
            var stage = Place(witness: witness, clock: clock, east: east, west: west)
            if isFounded { stage.known = try await witness.found(skew: stage.skew).identity }
            try await body(stage)
        }
    }

    /// The whole contract.
    public static let all: [WitnessContractCase] = [
        WitnessContractCase("nobody has a right that nobody asked for") { it in
            try require(try await it.look(it.east), is: .free(epoch: 0), "what is seen")
        },
        WitnessContractCase("another site waits until the lease and the skew are over, to the millisecond") { it in
            try require(try await it.renew(it.east, 1), is: true, "whether the first has it")
            try require(try await it.look(it.west), is: .held(for: .seconds(11), epoch: 1), "what the other sees")
            it.clock.advance(by: .milliseconds(10_999))
            try require(try await it.renew(it.west, 2), is: false, "whether the other has it too early")
            try require(try await it.look(it.west), is: .held(for: .milliseconds(1), epoch: 1), "what is left")
            it.clock.advance(by: .milliseconds(1))
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
            try require(try await it.look(it.west), is: .held(for: .seconds(10), epoch: 1), "what the other sees")
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
            try require(try await it.look(it.west), is: .held(for: .seconds(11), epoch: 1), "what the other sees")
        },
        WitnessContractCase("a site's own right is no obstacle to itself") { it in
            _ = try await it.renew(it.east, 1)
            try require(try await it.look(it.east), is: .own(epoch: 1), "what it sees")
            try require(try await it.take(it.east, 2), is: true, "whether it has its next term")
            try require(try await it.renew(it.east, 1), is: false, "whether it goes back to the term before")
        },
        WitnessContractCase("a term that is over is never renewed, whatever the clock says") { it in
            _ = try await it.renew(it.east, 1)
            it.clock.advance(by: .seconds(11))
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
            try require(try await it.look(it.west), is: .held(for: .seconds(11), epoch: 1), "after others gave it back")
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
            try require(try await it.look(it.east), is: .held(for: .seconds(11), epoch: 2), "what the other sees")
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
}
