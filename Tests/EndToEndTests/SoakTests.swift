import Foundation
import Testing

/// Everything at once, for as long as it is told: `make soak`.
@Suite struct SoakTests {
    private static func number<Value: FixedWidthInteger>(_ name: String, default value: Value) throws -> Value {
        guard let text = ProcessInfo.processInfo.environment[name], !text.isEmpty else { return value }
        return try #require(Value(text), "\(name) is a number: \(text)")
    }

    @Test func `daemons on one database lose and double nothing, whatever happens to them and to it`() async throws {
        let mishaps = try SoakTests.number("RECONCILED_SOAK_MISHAPS", default: 12)
        let seed: UInt64 = try SoakTests.number("RECONCILED_SOAK_SEED", default: 1)
        let record = SoakRecord()
        let plans = SoakPlan.rounds(mishaps: mishaps, daemons: SoakRound.daemons, seed: seed)
        do {
            for (round, plan) in plans.enumerated() {
                try await SoakRound(plan: plan, seed: seed &* 1_000 &+ UInt64(round), record: record).run()
            }
        } catch {
            print(await record.table(seed: seed))
            throw error
        }
        print(await record.table(seed: seed))
    }

    @Test func `a plan depends on its seed alone and has what was asked for`() {
        let plans = SoakPlan.rounds(mishaps: 60, daemons: 3, seed: 7)
        #expect(plans == SoakPlan.rounds(mishaps: 60, daemons: 3, seed: 7))
        #expect(plans != SoakPlan.rounds(mishaps: 60, daemons: 3, seed: 8))
        #expect(plans.map { $0.ofDaemons.count + $0.ofDatabase.count } == [20, 20, 20])
        for plan in plans {
            let database = plan.ofDatabase.map(\.mishap)
            #expect(Set(database + plan.ofDaemons.map(\.mishap)) == Set(Mishap.allCases))
            #expect(database.count { $0 == .failover } == 1)
            let after = database.drop { $0 != .failover }
            #expect(after.allSatisfy { !$0.needsPair }, "there is one server after the failover")
        }
    }
}
