import CoreMetrics
import HTTPTransport
import Metrics
import PaymentCore
import Providers

/// The gauges of what stands between us and each provider's wire: its breaker, and what waits for its budget.
struct ProviderPathGauges {
    private let paths: [ProviderName: ProviderAssembly.Assembled]
    private let factory: any MetricsFactory

    init(paths: [ProviderName: ProviderAssembly.Assembled], factory: any MetricsFactory) {
        (self.paths, self.factory) = (paths, factory)
        record()
    }

    /// Shows how it is now.
    func record() {
        for (provider, path) in paths {
            gauge("reconciled_provider_breaker_open", provider).record(path.breaker.state == .closed ? 0 : 1)
            gauge("reconciled_provider_requests_waiting", provider).record(path.budget.queueLength)
        }
    }

    private func gauge(_ label: String, _ provider: ProviderName) -> Gauge {
        Gauge(label: label, dimensions: [("provider", provider.name)], factory: factory)
    }
}
