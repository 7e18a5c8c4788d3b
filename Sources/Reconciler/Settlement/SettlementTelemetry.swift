internal import Metrics
internal import PaymentCore

/// What the engine counts. Names follow OpenMetrics; labels have few values.
struct SettlementTelemetry: Sendable {
    private let swept = Counter(label: "reconciled_payments_swept")

    func changed(_ payment: Payment) {
        // Later changes of a payment that has ended, such as refunds, do not end it again.
        guard let conclusion = payment.conclusion, conclusion.at == payment.updatedAt else { return }
        Counter(label: "reconciled_payments_settled", dimensions: [("state", payment.state.rawValue)]).increment()
    }

    func attempted(_ order: SendOrder, _ report: AttemptReport) {
        Counter(
            label: "reconciled_attempts",
            dimensions: [
                ("provider", order.provider.name), ("kind", order.kind.rawValue), ("outcome", report.outcome.name),
                ("again", order.number > 1 ? "true" : "false"),
            ]
        ).increment()
    }

    func inquired(_ order: InquiryOrder, _ observation: Observation) {
        Counter(
            label: "reconciled_inquiries",
            dimensions: [("provider", order.provider.name), ("status", observation.status.rawValue)]
        ).increment()
    }

    func alerted(_ alert: Alert) {
        Counter(label: "reconciled_alerts", dimensions: [("provider", alert.provider.name)]).increment()
    }

    func swept(_ count: Int) {
        guard count > 0 else { return }
        swept.increment(by: count)
    }

    func storeFailed(_ failure: StoreFailure) {
        Counter(label: "reconciled_store_failures", dimensions: [("code", failure.code.rawValue)]).increment()
    }
}
