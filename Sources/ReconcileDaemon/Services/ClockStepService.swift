import Foundation
import Logging
import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle

/// Tells people when the machine's clock was set while the daemon runs.
struct ClockStepService: Service {
    /// What the clocks show; `nil` if they could not be read at one moment.
    var sample: @Sendable () -> ClockSteps.Sample? = ClockStepService.clocks()
    var pause: Duration = .seconds(1)
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var steps = ClockSteps()
            while !Task.isCancelled {
                if let sample = sample(), let step = steps.note(sample) { tell(step) }
                do {
                    try await Task.sleep(for: pause)
                } catch {
                    return
                }
            }
        }
    }

    private func tell(_ step: Span) {
        let seconds = Double(step.milliseconds) / 1_000
        Counter(label: "reconciled_clock_steps").increment()
        Gauge(label: "reconciled_clock_step_seconds").record(seconds)
        logger.error(
            "the machine's clock was set while the daemon runs: deadlines and the ages of keys are told by it",
            metadata: ["by_seconds": .stringConvertible(seconds)])
    }

    /// The wall clock between two looks at the steady one. A process that stood still between them saw nothing.
    private static func clocks() -> @Sendable () -> ClockSteps.Sample? {
        let origin = ContinuousClock.now
        return {
            let before = ContinuousClock.now
            let wall = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1_000))
            guard ContinuousClock.now - before < .milliseconds(500) else { return nil }
            let passed = (before - origin).components
            return ClockSteps.Sample(
                wall: wall,
                steady: SteadyMoment(
                    milliseconds: passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000))
        }
    }
}
