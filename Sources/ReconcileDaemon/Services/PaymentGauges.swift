import CoreMetrics
import Metrics
import PaymentCore
import Reconciler

/// The gauges of what the store holds. Each is there from the start, at zero: an alert looks at all of them.
struct PaymentGauges {
    private let byState: [PaymentState: Gauge]
    private let waiting: [WaitingOperation: Gauge]
    private let due: Gauge
    private let oldest: Gauge
    private let oldestUnsealed: Gauge

    init(factory: any MetricsFactory) {
        func gauge(_ label: String, _ dimensions: [(String, String)] = []) -> Gauge {
            let gauge = Gauge(label: label, dimensions: dimensions, factory: factory)
            gauge.record(0)
            return gauge
        }
        byState = Dictionary(
            uniqueKeysWithValues: PaymentState.allCases.map { state in
                (state, gauge("reconciled_payments", [("state", state.rawValue)]))
            })
        waiting = Dictionary(
            uniqueKeysWithValues: WaitingOperation.all.map { one in
                let dimensions = [("operation", one.operation.rawValue), ("for", one.waitsFor.rawValue)]
                return (one, gauge("reconciled_operations_waiting", dimensions))
            })
        due = gauge("reconciled_payments_due")
        oldest = gauge("reconciled_oldest_unsettled_seconds")
        oldestUnsealed = gauge("reconciled_oldest_unsealed_seconds")
    }

    /// Shows what was counted.
    func record(_ statistics: StoreStatistics, now: Timestamp) {
        for (state, gauge) in byState { gauge.record(statistics.paymentsByState[state] ?? 0) }
        for (one, gauge) in waiting { gauge.record(statistics.waiting[one] ?? 0) }
        due.record(statistics.due)
        oldest.record(seconds(since: statistics.oldestUnsettled, now))
        oldestUnsealed.record(seconds(since: statistics.oldestUnsealed, now))
    }

    private func seconds(since moment: Timestamp?, _ now: Timestamp) -> Double {
        let age = moment.map { now - $0 } ?? .zero
        return Double(age.milliseconds) / 1_000
    }
}
