import OperationsConsole
import PaymentCore
import Reconciler
import Testing

@testable import ReconcileDaemon

@Suite struct PaymentGaugesTests {
    /// The series of a metric with their values, as the text of the metrics shows them.
    private func series(_ name: String, _ registry: MetricsRegistry) -> [String: String] {
        let lines = registry.openMetrics().split(separator: "\n").filter { $0.hasPrefix("\(name){") }
        return Dictionary(
            uniqueKeysWithValues: lines.compactMap { line in
                line.lastIndex(of: " ").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
            })
    }

    @Test func `every operation is there from the start, at zero, for people and for time`() {
        let registry = MetricsRegistry()
        _ = PaymentGauges(factory: registry)
        let waiting = series("reconciled_operations_waiting", registry)
        #expect(waiting.count == 8)
        #expect(waiting.values.allSatisfy { Double($0) == 0 }, "\(waiting)")
        #expect(series("reconciled_payments", registry).count == PaymentState.allCases.count)
    }

    @Test func `gauges show what was counted, and go back to zero`() {
        let registry = MetricsRegistry()
        let gauges = PaymentGauges(factory: registry)
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        let counted = StoreStatistics(
            paymentsByState: [.succeeded: 9], due: 4, oldestUnsettled: now + .seconds(-30),
            waiting: [WaitingOperation(.refund, for: .people): 3], oldestUnsealed: now + .seconds(-7))
        let refunds = #"reconciled_operations_waiting{for="people",operation="refund"}"#
        gauges.record(counted, now: now)
        let shown = series("reconciled_operations_waiting", registry).mapValues { Double($0) }
        #expect(shown[refunds] == 3)
        #expect(shown.values.reduce(0) { $0 + ($1 ?? 0) } == 3)
        #expect(registry.openMetrics().contains("reconciled_oldest_unsettled_seconds 30"))
        #expect(registry.openMetrics().contains("reconciled_oldest_unsealed_seconds 7"))
        let nothing = StoreStatistics(
            paymentsByState: [:], due: 0, oldestUnsettled: nil, waiting: [:], oldestUnsealed: nil)
        gauges.record(nothing, now: now)
        #expect(series("reconciled_operations_waiting", registry).values.allSatisfy { Double($0) == 0 })
        #expect(registry.openMetrics().contains("reconciled_payments_due 0"))
        #expect(registry.openMetrics().contains("reconciled_oldest_unsealed_seconds 0"))
    }
}
