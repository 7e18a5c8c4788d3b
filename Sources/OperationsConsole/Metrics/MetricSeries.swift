internal import CoreMetrics
internal import Synchronization

/// The kinds of metric families.
enum MetricKind: String, Sendable, Hashable {
    case counter, gauge, summary, histogram

    /// What the names of its samples may end in.
    var suffixes: [String] {
        switch self {
        case .counter: ["_total", "_created"]
        case .gauge: []
        case .summary: ["_count", "_sum", "_created"]
        case .histogram: ["_bucket", "_count", "_sum", "_created"]
        }
    }
}

/// One sample of a series.
struct MetricSample: Sendable, Hashable {
    let suffix: String
    let label: MetricLabel?
    let value: String

    init(_ suffix: String, _ value: String, label: MetricLabel? = nil) {
        self.suffix = suffix
        self.value = value
        self.label = label
    }
}

/// The values under one name and one set of labels.
protocol MetricSeries: AnyObject, Sendable {
    /// What it shows now.
    func samples() -> [MetricSample]
}

/// A count that only grows. Whole and fractional increments are kept apart, so that whole ones stay exact.
final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
    private struct Count {
        var whole: Int64 = 0
        var fraction = 0.0
    }

    private let count = Mutex(Count())

    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        count.withLock { count in
            let (sum, overflow) = count.whole.addingReportingOverflow(amount)
            count.whole = overflow ? .max : sum
        }
    }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        count.withLock { $0.fraction += amount }
    }

    func reset() {
        count.withLock { $0 = Count() }
    }

    func samples() -> [MetricSample] {
        let now = count.withLock { $0 }
        let sum = Double(now.whole) + now.fraction
        let value = now.fraction == 0 ? String(now.whole) : MetricText.number(sum)
        return [MetricSample("_total", value)]
    }
}

/// A value that goes up and down.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    func samples() -> [MetricSample] { [MetricSample("", MetricText.number(value.withLock { $0 }))] }
}

/// How many values were recorded, and their sum.
final class SummarySeries: MetricSeries, RecorderHandler {
    private struct Totals {
        var count: Int64 = 0
        var sum = 0.0
    }

    private let totals = Mutex(Totals())

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard value.isFinite else { return }
        totals.withLock { totals in
            totals.count += 1
            totals.sum += value
        }
    }

    func samples() -> [MetricSample] {
        let now = totals.withLock { $0 }
        return [MetricSample("_count", String(now.count)), MetricSample("_sum", MetricText.number(now.sum))]
    }
}

/// Durations in seconds, counted in fixed buckets.
final class HistogramSeries: MetricSeries, TimerHandler {
    /// The upper bounds in seconds of what takes as long as a request.
    static let usualBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

    private struct Totals {
        var counts: [Int64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let totals: Mutex<Totals>

    init(bounds: [Double]) {
        self.bounds = bounds
        totals = Mutex(Totals(counts: [Int64](repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) {
        let seconds = Double(max(duration, 0)) / 1e9
        let bucket = bounds.firstIndex { seconds <= $0 } ?? bounds.count
        totals.withLock { totals in
            totals.counts[bucket] += 1
            totals.sum += seconds
        }
    }

    func samples() -> [MetricSample] {
        let now = totals.withLock { $0 }
        let bounds = bounds.map { String($0) } + ["+Inf"]
        var sum: Int64 = 0
        var samples: [MetricSample] = []
        for (bound, count) in zip(bounds, now.counts) {
            sum += count
            samples.append(MetricSample("_bucket", String(sum), label: MetricLabel(name: "le", value: bound)))
        }
        samples.append(MetricSample("_count", String(sum)))
        samples.append(MetricSample("_sum", MetricText.number(now.sum)))
        return samples
    }
}
