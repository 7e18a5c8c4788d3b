import LogCapture
import Logging
import PaymentCore
import Reconciler
import Synchronization
import Testing

@testable import ReconcileDaemon

/// What people are told of a clock that is set while the daemon runs.
@Suite struct ClockStepServiceTests {
    @Test(.timeLimit(.minutes(1)))
    func `a clock that jumps twenty years is told once, with how far`() async throws {
        let lines = LogLines()
        let looks = Mutex<Int64>(0)
        let service = ClockStepService(
            sample: {
                let number = looks.withLock { number in
                    number += 1
                    return number
                }
                let jumped: Int64 = number < 5 ? 0 : 630_720_000_000
                return ClockSteps.Sample(
                    wall: Timestamp(milliseconds: number * 1_000 + jumped),
                    steady: SteadyMoment(milliseconds: number * 1_000))
            }, pause: .milliseconds(1), logger: Logger(label: "clock") { _ in lines.handler })
        let running = Task { try await service.run() }
        while looks.withLock({ $0 }) < 20 { await Task.yield() }
        running.cancel()
        try await running.value
        #expect(lines.all.count == 1, "\(lines.all)")
        #expect(lines.all.first?.contains("the machine's clock was set while the daemon runs") == true)
        #expect(lines.all.first?.contains("630720000") == true, "\(lines.all)")
    }
}
