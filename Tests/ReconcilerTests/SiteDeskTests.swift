import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// What people may ask of the site.
@Suite struct SiteDeskTests {
    private let one: OnePayment
    private let witness: MemoryWitness

    init() throws {
        one = try OnePayment()
        let clock = one.clock
        witness = MemoryWitness(clock: { clock.now() })
    }

    private var desk: SiteDesk { desk() }

    private func desk(keySpaces: KeySpaces = KeySpaces()) -> SiteDesk {
        SiteDesk(
            store: one.store, witness: witness, clock: one.clock,
            settings: SiteDesk.Settings(
                site: .main, lease: .seconds(20), skew: .milliseconds(100), needsSecondPerson: false,
                keySpaces: keySpaces))
    }

    private func spaces(_ name: String) throws -> KeySpaces {
        var contract = ProviderContract.reference
        contract.keySpace = KeySpace(name)
        return KeySpaces([try ProviderName("card"): contract])
    }

    @Test func `after lost rows a site that would send in another key space is not promoted, unless that is accepted`()
        async throws
    {
        let row = try await desk.status().row
        _ = try await one.store.changeSite(.keySpaces(try spaces("west")), epoch: row.epoch)
        var request = PromotionRequest(by: "hana", reason: "a backup", fencedBy: "the power is off", isRestored: true)
        #expect(try await desk(keySpaces: spaces("west")).obstacles(request).isEmpty)
        let obstacles = try await desk(keySpaces: spaces("east")).obstacles(request)
        #expect(obstacles == [.contractsAtRisk(["card (key_space: east here, west before)"])])
        request.acceptContracts = "nothing was in flight"
        #expect(try await desk(keySpaces: spaces("east")).obstacles(request).isEmpty)
    }

    /// A witness that gave this site the right in a term before the site's row knew of it.
    private func giveRight(_ epoch: Int64) async throws -> WitnessID {
        let identity = try #require(try await witness.found(skew: .milliseconds(100)).identity)
        let claim = WitnessClaim(
            .main, epoch: epoch, lease: .seconds(20), skew: .milliseconds(100), witness: identity)
        #expect(try await witness.take(claim, isFenced: true))
        return identity
    }

    @Test func `a witness that gave this site the right in its present term becomes the one that its row knows`()
        async throws
    {
        let identity = try await giveRight(try await desk.status().row.epoch)
        let row = try await desk.foundWitness(by: "hana", fencedBy: nil)
        #expect(row.witness?.identity == identity)
    }

    @Test func `a witness that gave a right in a later term than the site's row knows is not taken`() async throws {
        let epoch = try await desk.status().row.epoch + 1
        _ = try await giveRight(epoch)
        do throws(SiteDeskFailure) {
            _ = try await desk.foundWitness(by: "hana", fencedBy: "the power is off")
            Issue.record("it was taken")
        } catch {
            guard case .witnessAhead(.main, let seen) = error, seen == epoch else {
                Issue.record("\(error)")
                return
            }
        }
        #expect(try await desk.status().row.witness == nil)
    }
}
