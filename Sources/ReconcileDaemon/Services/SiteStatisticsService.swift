import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle

/// Keeps the gauges of the site up to date, and those of the objectives that it is judged by.
struct SiteStatisticsService: Service {
    let gate: SiteGate
    let keeper: SiteKeeper?
    let objectives: Configuration.Objectives
    /// In which key spaces this site sends.
    let keySpaces: KeySpaces
    let clock: any WallClock

    private static let every = Span.seconds(1)

    func run() async throws {
        recordObjectives()
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                record(await keeper?.reading)
                do {
                    try await clock.sleep(until: clock.now() + SiteStatisticsService.every)
                } catch {
                    return
                }
            }
        }
    }

    private func record(_ reading: SiteReading?) {
        let standing = gate.standing
        Gauge(label: "reconciled_site_active").record(standing.isActive ? 1 : 0)
        Gauge(label: "reconciled_site_epoch").record(reading?.row.epoch ?? 1)
        for mode in SiteMode.allCases {
            Gauge(label: "reconciled_site_mode", dimensions: [("mode", mode.rawValue)])
                .record(standing.mode == mode ? 1 : 0)
        }
        Gauge(label: "reconciled_site_recovery_windows").record(standing.recoveries.count)
        if let until = standing.until {
            let left = standing.refusal == nil ? max(0, (until - gate.moment).milliseconds) : 0
            Gauge(label: "reconciled_site_lease_seconds").record(Double(left) / 1_000)
        }
        recordKeySpaces(reading?.row.keySpaces ?? keySpaces)
        guard let database = reading?.database else { return }
        Gauge(label: "reconciled_site_database_writable").record(database.isWritable ? 1 : 0)
        if let bytes = database.lagBytes { Gauge(label: "reconciled_replication_lag_bytes").record(bytes) }
        if let lag = database.lag {
            Gauge(label: "reconciled_replication_lag_seconds").record(Double(lag.milliseconds) / 1_000)
        }
    }

    /// A site that is not active yet shows here that it would send elsewhere.
    private func recordKeySpaces(_ active: KeySpaces) {
        let differing = Set(keySpaces.differences(from: active).map(\.provider))
        for provider in keySpaces.byProvider.keys {
            Gauge(label: "reconciled_provider_key_space_differs", dimensions: [("provider", provider)])
                .record(differing.contains(provider) ? 1 : 0)
        }
    }

    private func recordObjectives() {
        let spans = [
            ("rto", objectives.recoveryTime), ("rpo", objectives.recoveryPoint),
            ("settle_within", objectives.settleWithin),
        ]
        for (name, span) in spans {
            Gauge(label: "reconciled_objective_seconds", dimensions: [("objective", name)])
                .record(Double(span.milliseconds) / 1_000)
        }
        for level in SiteMode.allCases {
            Gauge(label: "reconciled_objective_level", dimensions: [("level", level.rawValue)])
                .record(objectives.recoveryLevel == level ? 1 : 0)
        }
    }
}
