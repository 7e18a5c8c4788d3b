import CoreMetrics
import Logging
import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle

/// Keeps the gauges of comparisons and discrepancies up to date.
struct ComparisonStatisticsService: Service {
    let store: any ComparisonStore
    /// The providers that are compared.
    let providers: [ProviderName]
    /// Where the chain of windows begins; the start of this service where it is `nil`.
    let beganAt: Timestamp?
    let clock: any WallClock
    let logger: Logger

    private static let every = Span.seconds(15)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            var gauges = ComparisonGauges(providers: providers, start: beganAt ?? clock.now())
            while !Task.isCancelled {
                do throws(StoreFailure) {
                    try await gauges.record(store, now: clock.now())
                } catch {
                    logger.warning("comparisons could not be counted", metadata: ["error": "\(error)"])
                }
                do {
                    try await clock.sleep(until: clock.now() + ComparisonStatisticsService.every)
                } catch {
                    return
                }
            }
        }
    }
}

/// The gauges of comparisons. A series that was shown once is shown again as zero, so that an alert ends.
struct ComparisonGauges {
    private struct Group: Hashable {
        var provider: ProviderName
        var finding: ComparisonClass
    }

    private let providers: [ProviderName]
    private let start: Timestamp
    private let factory: (any MetricsFactory)?
    private var groups: Set<Group>
    private var currencies: Set<Currency> = []

    /// How many of the newest runs of a provider are counted.
    static let newestRuns = 200

    /// Gauges.
    /// - Parameters:
    ///   - start: From when a provider counts as not compared that has no run yet.
    ///   - factory: Where they are kept; the process's own where it is `nil`.
    init(providers: [ProviderName], start: Timestamp, factory: (any MetricsFactory)? = nil) {
        self.providers = providers
        self.start = start
        self.factory = factory
        groups = Set(
            providers.flatMap { provider in
                ComparisonClass.differences.map { Group(provider: provider, finding: $0) }
            })
    }

    /// Counts and records.
    mutating func record(_ store: any ComparisonStore, now: Timestamp) async throws(StoreFailure) {
        record(try await store.discrepancyCounts(), now: now)
        for provider in providers {
            let head = try await store.chainHead(of: provider)
            record(head, of: provider, now: now)
            var query = RunQuery(limit: ComparisonGauges.newestRuns)
            query.provider = provider
            let runs = try await store.runs(query).items
            for state in ComparisonRun.State.allCases {
                gauge("reconciled_comparison_runs", [("provider", provider.name), ("state", state.rawValue)])
                    .record(runs.count { $0.state == state })
            }
        }
    }

    private mutating func record(_ counts: [DiscrepancyCount], now: Timestamp) {
        var open: [Group: Int] = [:]
        var oldest: [ProviderName: Timestamp] = [:]
        var atRisk: [Currency: Int64] = [:]
        for count in counts {
            open[Group(provider: count.provider, finding: count.finding)] = count.count
            oldest[count.provider] = min(oldest[count.provider] ?? count.oldest, count.oldest)
            for amount in count.atRisk {
                let (sum, overflow) = (atRisk[amount.currency] ?? 0).addingReportingOverflow(amount.value)
                atRisk[amount.currency] = overflow ? .max : sum
            }
        }
        groups.formUnion(open.keys)
        currencies.formUnion(atRisk.keys)
        for group in groups {
            gauge(
                "reconciled_discrepancies_open",
                [("provider", group.provider.name), ("class", group.finding.rawValue)]
            ).record(open[group] ?? 0)
        }
        for provider in Set(groups.map(\.provider)) {
            let age = oldest[provider].map { now - $0 } ?? .zero
            gauge("reconciled_oldest_discrepancy_seconds", [("provider", provider.name)]).record(seconds(age))
        }
        for currency in currencies {
            gauge("reconciled_discrepancies_at_risk", [("currency", currency.code)]).record(atRisk[currency] ?? 0)
        }
    }

    /// Everything before the head's window was compared, and the window too once the run is completed.
    private func record(_ head: ComparisonRun?, of provider: ProviderName, now: Timestamp) {
        let until = head.map { $0.state == .completed ? $0.window.to : $0.window.from } ?? start
        gauge("reconciled_comparison_lag_seconds", [("provider", provider.name)])
            .record(seconds(max(.zero, now - until)))
    }

    private func seconds(_ span: Span) -> Double { Double(span.milliseconds) / 1_000 }

    private func gauge(_ label: String, _ dimensions: [(String, String)]) -> Gauge {
        guard let factory else { return Gauge(label: label, dimensions: dimensions) }
        return Gauge(label: label, dimensions: dimensions, factory: factory)
    }
}
