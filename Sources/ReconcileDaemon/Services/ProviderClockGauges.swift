import CoreMetrics
import Metrics
import PaymentCore
import Reconciler

/// The gauges of the providers' clocks. Whether one is in doubt is there from the start. How far it is off is there
/// once an answer has told it.
struct ProviderClockGauges {
    private let providers: [ProviderName]
    private let watch: ProviderClockWatch
    private let factory: any MetricsFactory

    init(providers: [ProviderName], watch: ProviderClockWatch, factory: any MetricsFactory) {
        (self.providers, self.watch, self.factory) = (providers, watch, factory)
        record()
    }

    /// Shows what the answers told.
    func record() {
        for provider in providers {
            let reading = watch.reading(of: provider)
            gauge("reconciled_provider_clock_in_doubt", provider).record(reading?.isInDoubt == true ? 1 : 0)
            guard let reading else { continue }
            gauge("reconciled_provider_clock_offset_seconds", provider)
                .record(Double(reading.offset.milliseconds) / 1_000)
            gauge("reconciled_provider_clock_uncertainty_seconds", provider)
                .record(Double(reading.uncertainty.milliseconds) / 1_000)
        }
    }

    private func gauge(_ label: String, _ provider: ProviderName) -> Gauge {
        Gauge(label: label, dimensions: [("provider", provider.name)], factory: factory)
    }
}
