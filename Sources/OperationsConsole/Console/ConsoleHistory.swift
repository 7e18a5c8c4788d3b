internal import HTTPEdge
public import PaymentCore
public import ServiceLifecycle
internal import StrictJSON
internal import Synchronization

/// What the console's first page shows of the last hour: what waited for time at each provider, by age, and how often
/// requests got no answer. It is looked at regularly, and kept in this process alone.
public final class ConsoleHistory: Service, Sendable {
    /// How many payments of one age are told apart, at the most.
    private static let pageSize = 200
    /// The ages that are told apart, in seconds: what is younger than each belongs to it.
    static let ages: [Int64] = [60, 600, 3_600, .max]

    /// The outcomes of requests that did not get through, or got no answer.
    private static let lost: Set = ["indeterminate", "unsent"]

    /// What waited at one provider at one moment.
    struct Waiting: Sendable, Hashable {
        /// Payments of each age.
        var byAge: [Int]
        /// Whether there were more than were looked at.
        var isMore: Bool
    }

    /// What was seen at one moment.
    struct Sample: Sendable {
        let at: Timestamp
        let waiting: [String: Waiting]
        /// Requests since the process began: all, and those that did not get through or got no answer.
        let attempts: [String: (all: Double, lost: Double)]
        /// Payments that ended since the process began, by state.
        let settled: [String: Double]
    }

    private let reads: OperatorReads
    private let metrics: MetricsRegistry
    private let now: @Sendable () -> Timestamp
    /// The providers of the configuration, in order.
    let providers: [String]
    private let every: Duration
    private let capacity: Int
    private let kept = Mutex<[Sample]>([])

    /// Keeps an hour.
    /// - Parameters:
    ///   - reads: What operators may read; what waits is listed there.
    ///   - metrics: Where requests are counted.
    ///   - providers: The providers of the configuration.
    ///   - every: How often is looked.
    ///   - now: The time of day.
    public init(
        reads: OperatorReads, metrics: MetricsRegistry, providers: [String], every: Duration = .seconds(15),
        now: @escaping @Sendable () -> Timestamp
    ) {
        self.reads = reads
        self.metrics = metrics
        self.providers = providers
        self.every = every
        self.now = now
        capacity = max(1, Int(3_600 / max(1, every.components.seconds)))
    }

    /// Looks until the process stops.
    public func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            while !Task.isCancelled {
                await look()
                do { try await Task.sleep(for: every) } catch { break }
            }
        }
    }

    /// The time of day.
    var moment: Timestamp { now() }

    /// The samples, oldest first.
    var samples: [Sample] { kept.withLock { $0 } }

    /// Takes one sample.
    func look() async {
        let at = now()
        var waiting: [String: Waiting] = [:]
        for provider in providers { waiting[provider] = await waits(at: provider, at) }
        let sample = Sample(
            at: at, waiting: waiting, attempts: attempts(), settled: sums("reconciled_payments_settled", by: "state"))
        kept.withLock { kept in
            kept.append(sample)
            if kept.count > capacity { kept.removeFirst(kept.count - capacity) }
        }
    }

    private func waits(at provider: String, _ now: Timestamp) async -> Waiting? {
        let answer = await reads.list("waiting_for=time&provider=\(provider)&limit=\(ConsoleHistory.pageSize)")
        guard answer.status == 200 else { return nil }
        let page = ViewModel.members(answer.body)
        var byAge = ConsoleHistory.ages.map { _ in 0 }
        for payment in page["data"] as? [[String: Any]] ?? [] {
            guard let created = (payment["created_at"] as? String).flatMap({ Timestamp(utc: $0) }) else { continue }
            let age = max(0, (now - created).milliseconds / 1_000)
            if let index = ConsoleHistory.ages.firstIndex(where: { age < $0 }) { byAge[index] += 1 }
        }
        return Waiting(byAge: byAge, isMore: page["next_cursor"] != nil)
    }

    private func attempts() -> [String: (all: Double, lost: Double)] {
        var sums: [String: (all: Double, lost: Double)] = [:]
        for (labels, value) in metrics.values(of: "reconciled_attempts") {
            guard let provider = labels.first(where: { $0.name == "provider" })?.value else { continue }
            let isLost = labels.contains { $0.name == "outcome" && ConsoleHistory.lost.contains($0.value) }
            sums[provider, default: (0, 0)].all += value
            if isLost { sums[provider, default: (0, 0)].lost += value }
        }
        return sums
    }

    private func sums(_ family: String, by label: String) -> [String: Double] {
        var sums: [String: Double] = [:]
        for (labels, value) in metrics.values(of: family) {
            guard let name = labels.first(where: { $0.name == label })?.value else { continue }
            sums[name, default: 0] += value
        }
        return sums
    }

    /// The value of a gauge with a label, if it was ever set.
    func gauge(_ family: String, _ label: String, _ value: String) -> Double? {
        metrics.values(of: family).first { series in
            series.labels.contains { $0.name == label && $0.value == value }
        }?.value
    }

    /// The values of a gauge by one of its labels, in order of that.
    func gauges(_ family: String, by label: String) -> [(name: String, value: Double)] {
        sums(family, by: label).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
