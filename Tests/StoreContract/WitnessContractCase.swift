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
        let lease = Span.seconds(10)
        let skew = Span.seconds(1)

        func renew(_ site: SiteName, _ epoch: Int64) async throws -> Bool {
            try await witness.renew(site, epoch: epoch, lease: lease, skew: skew)
        }

        func take(_ site: SiteName, _ epoch: Int64, isFenced: Bool = false) async throws -> Bool {
            try await witness.take(site, epoch: epoch, lease: lease, skew: skew, isFenced: isFenced)
        }

        func look(_ site: SiteName) async throws -> PromotionEvidence.Witness {
            try await witness.look(for: site, skew: skew)
        }
    }

    /// The sentence.
    public let name: String
    private let body: @Sendable (Place) async throws -> Void

    private init(_ name: String, _ body: @escaping @Sendable (Place) async throws -> Void) {
        self.name = name
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
            try await body(Place(witness: witness, clock: clock, east: east, west: west))
        }
    }

    /// The whole contract.
    public static let all: [WitnessContractCase] = [
        WitnessContractCase("nobody has a right that nobody asked for") { it in
            try require(try await it.look(it.east), is: .free, "what is seen")
        },
        WitnessContractCase("another site waits until the lease and the skew are over, to the millisecond") { it in
            try require(try await it.renew(it.east, 1), is: true, "whether the first has it")
            try require(try await it.look(it.west), is: .held(for: .seconds(11)), "what the other sees")
            it.clock.advance(by: .milliseconds(10_999))
            try require(try await it.renew(it.west, 2), is: false, "whether the other has it too early")
            try require(try await it.look(it.west), is: .held(for: .milliseconds(1)), "what is left")
            it.clock.advance(by: .milliseconds(1))
            try require(try await it.look(it.west), is: .free, "what the other sees then")
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
            let renewed = try await it.witness.renew(it.east, epoch: 1, lease: .seconds(3), skew: it.skew)
            try require(renewed, is: true, "whether it is renewed")
            try require(try await it.look(it.west), is: .held(for: .seconds(10)), "what the other sees")
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
            try require(try await it.look(it.west), is: .held(for: .seconds(11)), "what the other sees")
        },
        WitnessContractCase("a site's own right is no obstacle to itself") { it in
            _ = try await it.renew(it.east, 1)
            try require(try await it.look(it.east), is: .free, "what it sees")
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
            try require(try await it.look(it.west), is: .held(for: .seconds(11)), "after others gave it back")
            try await it.witness.release(it.east, epoch: 1)
            try require(try await it.look(it.west), is: .free, "after its holder did")
            try require(try await it.take(it.west, 2), is: true, "whether the next has it")
        },
    ]
}
