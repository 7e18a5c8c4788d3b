import PaymentCore
import Testing
@Suite struct ZDebugTests {
    @Test func dbg() throws {
        let fixture = try Fixture()
        let casts = RandomWalkTests.casts.filter { $0.contracts.contains { $0.inquiry == .byResend } }
        #expect(casts.count == 4)
        for cast in casts { for seed in 1_000..<3_000 as Range<UInt64> {
            let stage = try Walk(cast, seed: seed, fixture).ended()
            guard !stage.judge.faults.isEmpty else { continue }
            print("SEED", seed, stage.judge.faults)
            for entry in stage.trail.suffix(60) { print(entry.at.rfc3339, entry.type, entry.leg ?? -1, entry.fields.map { "\($0)" }.joined(separator: " ").prefix(300)) }
            return
        } }
    }
}
