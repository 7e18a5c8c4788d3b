import PaymentCore
import Reconciler
import Testing

/// What a witness gives and takes back.
@Suite struct WitnessModelTests {
    private let now = Timestamp(milliseconds: 1_000_000)

    private func claim(_ site: String, _ epoch: Int64) throws -> WitnessClaim {
        WitnessClaim(try SiteName(site), epoch: epoch, lease: .seconds(30), skew: .seconds(2), witness: nil)
    }

    @Test func `a right is given back by its holder in its own term, and by nobody else`() throws {
        for (site, epoch, isFree) in [("east", Int64(2), true), ("east", 1, false), ("west", 2, false)] {
            var model = WitnessModel()
            let east = try model.write(try claim("east", 2), at: now)
            #expect(east)
            model.release(try SiteName(site), epoch: epoch)
            let west = try model.write(try claim("west", 3), at: now + .seconds(3))
            #expect(west == isFree, "given back by \(site) in term \(epoch)")
        }
    }
}
