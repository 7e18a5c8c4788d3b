public import CoreMetrics
internal import Synchronization

/// The process's metrics: what `CoreMetrics` writes to, and what `/metrics` shows as OpenMetrics text.
///
/// Counters, floating-point counters, meters, recorders and timers become families; a timer's is a histogram
/// in seconds. The number of families and series is bounded: what goes beyond is summed up in a series with
/// the label `overflow="true"`, so that no label that takes many values can fill the memory.
public final class MetricsRegistry: MetricsFactory {
    /// How much is kept.
    public struct Limits: Sendable, Hashable {
        /// Families at most.
        public var families = 500
        /// Series of one family at most, without the one for the overflow.
        public var seriesPerFamily = 200

        /// The documented defaults.
        public init() {}
    }

    struct Family {
        let kind: MetricKind
        var series: [[MetricLabel]: any MetricSeries] = [:]
    }

    private struct Asked: Hashable {
        let label: String
        let kind: MetricKind
    }

    private struct State {
        var names: [Asked: String] = [:]
        var reserved: Set<String> = []
        var families: [String: Family] = [:]
    }

    private let limits: Limits
    private let help: [String: String]
    private let bounds: [String: [Double]]
    private let state = Mutex(State())

    /// An empty registry.
    /// - Parameters:
    ///   - limits: How much is kept.
    ///   - help: What families mean, by the name that `/metrics` shows.
    ///   - bounds: The upper bounds in seconds of histograms that do not have the usual ones, by that name.
    public init(limits: Limits = Limits(), help: [String: String] = [:], bounds: [String: [Double]] = [:]) {
        self.limits = limits
        self.bounds = bounds
        self.help = help
    }

    /// The metrics now, as OpenMetrics text.
    public func openMetrics() -> String {
        let families = state.withLock { $0.families }
        return OpenMetricsText.write(families, help: help)
    }

    /// The values of a family of counters or gauges now, with the labels of each; none where there is no such family.
    func values(of family: String) -> [(labels: [MetricLabel], value: Double)] {
        let series = state.withLock { $0.families[family]?.series ?? [:] }
        return series.compactMap { labels, series in
            let value = series.samples().first { $0.suffix != "_created" }?.value
            return value.flatMap { Double($0) }.map { (labels, $0) }
        }
    }

    private func series<Series: MetricSeries>(
        _ label: String, _ dimensions: [(String, String)], _ kind: MetricKind, make: () -> Series
    ) -> Series {
        let labels = MetricLabel.list(dimensions)
        return state.withLock { state in
            let name = familyName(label, kind, &state)
            let isOverflowing = name == MetricsRegistry.overflowName(kind)
            var family = state.families[name] ?? Family(kind: kind)
            var seriesKey = isOverflowing ? MetricLabel.overflow : labels
            if let found = family.series[seriesKey] as? Series { return found }
            if family.series.count >= limits.seriesPerFamily { seriesKey = MetricLabel.overflow }
            if let found = family.series[seriesKey] as? Series { return found }
            let made = make()
            family.series[seriesKey] = made
            state.families[name] = family
            return made
        }
    }

    private func remove(_ series: AnyObject) {
        state.withLock { state in
            for (name, family) in state.families {
                guard let seriesKey = family.series.first(where: { $0.value === series })?.key else { continue }
                // Others write into the series of the overflow too.
                if seriesKey != MetricLabel.overflow { state.families[name]?.series[seriesKey] = nil }
                return
            }
        }
    }
}

extension MetricsRegistry {
    /// The family of a label: the same for the same label and kind, and no name of a sample twice.
    private func familyName(_ label: String, _ kind: MetricKind, _ state: inout State) -> String {
        let asked = Asked(label: label, kind: kind)
        if let known = state.names[asked] { return known }
        guard state.names.count < limits.families else { return MetricsRegistry.overflowName(kind) }
        let base = MetricsRegistry.baseName(label, kind)
        var name = base
        var attempt = 1
        while !MetricsRegistry.sampleNames(name, kind).isDisjoint(with: state.reserved) {
            name = "\(base)_\(kind.rawValue)\(attempt == 1 ? "" : String(attempt))"
            if kind == .histogram { name += "_seconds" }
            attempt += 1
        }
        state.reserved.formUnion(MetricsRegistry.sampleNames(name, kind))
        state.names[asked] = name
        return name
    }

    private static func baseName(_ label: String, _ kind: MetricKind) -> String {
        let name = MetricText.name(label)
        switch kind {
        case .counter: return name.hasSuffix("_total") ? String(name.dropLast("_total".count)) : name
        case .histogram: return name.hasSuffix("_seconds") ? name : name + "_seconds"
        case .gauge, .summary: return name
        }
    }

    private static func sampleNames(_ name: String, _ kind: MetricKind) -> Set<String> {
        Set([name] + kind.suffixes.map { name + $0 })
    }

    private static func overflowName(_ kind: MetricKind) -> String {
        "reconciled_metrics_overflow_\(kind.rawValue)" + (kind == .histogram ? "_seconds" : "")
    }
}

extension MetricsRegistry {
    /// A counter.
    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { CounterSeries() }
    }

    /// A counter of fractions; shares its series with a counter of the same label.
    public func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter) { CounterSeries() }
    }

    /// A gauge.
    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { GaugeSeries() }
    }

    /// A gauge; or, where values are aggregated, their count and sum.
    public func makeRecorder(
        label: String, dimensions: [(String, String)], aggregate: Bool
    ) -> any RecorderHandler {
        guard aggregate else { return series(label, dimensions, .gauge) { GaugeSeries() } }
        return series(label, dimensions, .summary) { SummarySeries() }
    }

    /// A histogram of seconds.
    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .histogram) {
            HistogramSeries(bounds: bounds[MetricsRegistry.baseName(label, .histogram)] ?? HistogramSeries.usualBounds)
        }
    }

    /// Forgets a series.
    public func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    /// Forgets a series.
    public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    /// Forgets a series.
    public func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    /// Forgets a series.
    public func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    /// Forgets a series.
    public func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}
