import CoreMetrics
import Metrics
import OperationsConsole
import PaymentCore
import ProgramEdge
import Reconciler

/// What each family of metrics means, by the name that `/metrics` shows; and those that are there from the start.
///
/// A counter that appears with its first event hides that event from whoever watches its increase.
enum MetricsCatalogue {
    /// The words of `# HELP`.
    static let help: [String: String] = [
        "http_client_request_duration_seconds": "Time from a request to a provider to the end of its answer.",
        "http_client_requests": "Requests to providers, by what came of them.",
        "reconciled_alerts": "Times that people were told of something at a provider.",
        "reconciled_attempts":
            "Requests to providers for an effect, by what they proved; again: not the first of its key.",
        "reconciled_build_info": "Always 1; the version of the program.",
        "reconciled_certificate_expiry_time_seconds": "When a listener's certificate expires, in seconds since 1970.",
        "reconciled_clock_step_seconds": "By how much the machine's clock was set last, ahead if positive.",
        "reconciled_clock_steps": "How often the machine's clock was set while this process ran.",
        "reconciled_comparison_failures": "Steps of comparisons that did not get through.",
        "reconciled_comparison_lag_seconds": "Time since the end of the newest window that was compared and proven.",
        "reconciled_comparison_runs": "Comparisons by state.",
        "reconciled_comparisons_finished": "Comparisons that ended; proven: the money of both sides is explained.",
        "reconciled_configuration_reloads": "Times that tokens, passwords and certificates were read anew.",
        "reconciled_decisions_unconfirmed": "Decisions that the standby has not confirmed yet.",
        "reconciled_discrepancies_at_risk": "Money of open discrepancies, in minor units.",
        "reconciled_discrepancies_open": "Differences between both sides that are open.",
        "reconciled_http_connections": "Connections that are open.",
        "reconciled_http_connections_ended": "Connections that the listener ended by itself.",
        "reconciled_http_request_duration_seconds": "Time from a caller's request to its answer, waits included.",
        "reconciled_http_requests": "Requests of callers.",
        "reconciled_inquiries": "Questions for a status, by the answer.",
        "reconciled_notifications": "Notifications of providers, by what came of them.",
        "reconciled_key_set_read_time_seconds": "When the keys of signed tokens were read, in seconds since 1970.",
        "reconciled_objective_level": "1 for the level at which a site has to work after a disaster (RLO).",
        "reconciled_objective_seconds": "The objectives of the configuration.",
        "reconciled_oldest_discrepancy_seconds": "Age of the oldest open discrepancy.",
        "reconciled_oldest_unconfirmed_seconds": "Age of the oldest decision that the standby has not confirmed.",
        "reconciled_oldest_webhook_seconds": "Age of the oldest webhook that a caller's endpoint has not accepted.",
        "reconciled_oldest_unsealed_seconds": "Age of the oldest entry of an audit trail that no seal covers.",
        "reconciled_oldest_unsettled_seconds": "Age of the oldest payment that is not settled and waits for no person.",
        "reconciled_operator_tokens_refused": "Operators' tokens that nobody has, by where they were shown.",
        "reconciled_operations_waiting": "Operations that wait for people or for time.",
        "reconciled_payments": "Payments by state.",
        "reconciled_payments_active": "Payments that this process works on.",
        "reconciled_payments_due": "Payments that are due and not taken up.",
        "reconciled_payment_settle_duration_seconds": "Time from what a caller asked for to the end of its payment.",
        "reconciled_payments_settled": "Payments that ended, by state.",
        "reconciled_payments_settled_late": "Payments that took longer to end than the objective.",
        "reconciled_payments_swept": "Payments that were taken up because they were due.",
        "reconciled_provider_breaker_open": "1 where a provider fails so often that it is only probed.",
        "reconciled_provider_requests_waiting": "Requests that wait for a provider's rate or concurrency.",
        "reconciled_provider_clock_in_doubt": "1 where a provider's clock is further from ours than its contract says.",
        "reconciled_provider_clock_offset_seconds": "How far a provider's clock is ahead of ours.",
        "reconciled_provider_clock_uncertainty_seconds": "How far the measured offset may be wrong.",
        "reconciled_provider_key_space_differs":
            "1 where this site would send to a provider in another key space than the active site does.",
        "reconciled_payments_shed": "New payments that were refused because a provider has too much to do.",
        "reconciled_provider_missing":
            "Times that a payment waited because its provider is not configured, or with another key space.",
        "reconciled_replication_lag_bytes": "Log that the standby has not flushed.",
        "reconciled_replication_lag_seconds": "How far the standby is behind.",
        "reconciled_site_active": "1 where this process may act.",
        "reconciled_site_database_writable": "1 where the site's database takes writes.",
        "reconciled_site_epoch": "The number of the newest term that this process knows.",
        "reconciled_site_lease_seconds": "How long the site's lease still lasts.",
        "reconciled_site_mode": "1 for what the site does at present.",
        "reconciled_site_recovery_windows": "Windows after lost rows that are open.",
        "reconciled_standby_missing": "1 where a synchronous standby is counted on and none confirms.",
        "reconciled_store_failures": "Operations of the store that failed.",
        "reconciled_tokens_refused": "Requests without a valid token, by what is wrong with it.",
        "process_cpu_seconds": "Time of processors that this process used.",
        "process_max_fds": "File descriptors that this process may have.",
        "process_open_fds": "File descriptors that this process has.",
        "process_resident_memory_bytes": "Memory that this process has.",
        "process_start_time_seconds": "When this process started, since 1970.",
        "reconciled_webhook_deliveries": "Deliveries of webhooks to callers, by what came of them.",
        "reconciled_webhooks_open": "Webhooks that callers' endpoints have not accepted: waiting, or given up.",
    ]

    /// The upper bounds in seconds of histograms of what takes longer than a request, by family.
    static let bounds = [
        "reconciled_payment_settle_duration_seconds": [
            0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3_600, 14_400, 86_400, 259_200,
        ]
    ]

    /// Makes the series that have to be there before their first event.
    ///
    /// - Parameter reported: the callers that are told by webhooks.
    static func begin(_ providers: [ProviderName], reported: Set<CallerID> = []) {
        Gauge(label: "reconciled_build_info", dimensions: [("version", BuildVersion.text)]).record(1)
        var series: [(String, [(String, String)])] = StoreFailure.Code.allCases.map {
            ("reconciled_store_failures", [("code", $0.rawValue)])
        }
        for state in ["succeeded", "failed", "canceled"].map({ [("state", $0)] }) {
            series += [("reconciled_payments_settled", state), ("reconciled_payments_settled_late", state)]
            _ = Metrics.Timer(label: "reconciled_payment_settle_duration", dimensions: state)
        }
        series += ["replaced", "unchanged", "refused"].map { ("reconciled_configuration_reloads", [("result", $0)]) }
        series += providers.map { ("reconciled_alerts", [("provider", $0.name)]) }
        series += providers.map { ("reconciled_payments_shed", [("provider", $0.name)]) }
        series += providers.map {
            ("reconciled_provider_missing", [("provider", $0.name), ("reason", "other_key_space")])
        }
        for caller in reported {
            series += ["accepted", "failed", "given_up"].map { outcome in
                ("reconciled_webhook_deliveries", [("caller", caller.name), ("outcome", outcome)])
            }
        }
        series.append(("reconciled_clock_steps", []))
        for (label, dimensions) in series { Counter(label: label, dimensions: dimensions).increment(by: 0) }
    }
}
