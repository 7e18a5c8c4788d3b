import PaymentCore
import Testing
@Suite struct ZDebugTests {
    @Test func dbg() throws {
        let fixture = try Fixture()
        let cast = RandomWalkTests.Cast("x", [.unaskableTombstoning, .unaskableTombstoning], plug: true)
        for seed in 0..<120 as Range<UInt64> {
            let stage = try Walk(cast, seed: seed, fixture).ended()
            guard !stage.judge.faults.isEmpty else { continue }
            print("SEED", seed, stage.judge.faults)
            for entry in stage.trail.suffix(60) { print(entry.at.rfc3339, entry.type, entry.leg ?? -1, entry.fields.map { "\($0)" }.joined(separator: " ").prefix(300)) }
            return
        }
    }
}
