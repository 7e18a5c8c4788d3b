import PaymentCore
import Reconciler
import Testing

/// A machine's clock that is set while the daemon runs.
@Suite struct ClockStepsTests {
    private func sample(_ wall: Int64, _ steady: Int64) -> ClockSteps.Sample {
        ClockSteps.Sample(wall: Timestamp(milliseconds: wall), steady: SteadyMoment(milliseconds: steady))
    }

    @Test func `clocks that advance alike are no step, however long the pause`() {
        var steps = ClockSteps()
        #expect(steps.note(sample(1_000_000, 0)) == nil)
        #expect(steps.note(sample(1_001_000, 1_000)) == nil)
        #expect(steps.note(sample(87_401_900, 86_401_000)) == nil, "slewed by 0.9 s within a day")
    }

    @Test(arguments: [Int64(20 * 365 * 86_400_000), 2_001, -2_001, -86_400_000])
    func `a clock that was set is told once, by how much and which way`(_ by: Int64) {
        var steps = ClockSteps()
        _ = steps.note(sample(1_000_000, 0))
        #expect(steps.note(sample(1_001_000 + by, 1_000)) == .milliseconds(by))
        #expect(steps.note(sample(1_002_000 + by, 2_000)) == nil)
    }
}
