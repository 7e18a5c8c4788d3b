internal import Metrics
internal import PaymentCore

/// What the engine counts. Names follow OpenMetrics; labels have few values.
struct SettlementTelemetry: Sendable {
    /// A payment that took longer to end is late.
    let objective: Span
    private let swept = Counter(label: "reconciled_payments_swept")

    func changed(_ payment: Payment) {
        // Later changes of a payment that has ended, such as refunds, do not end it again.
        guard let conclusion = payment.conclusion, conclusion.at == payment.updatedAt else { return }
        let state = [("state", payment.state.rawValue)]
        Counter(label: "reconciled_payments_settled", dimensions: state).increment()
        guard let took = payment.timeToSettle else { return }
        Timer(label: "reconciled_payment_settle_duration", dimensions: state).recordMilliseconds(took.milliseconds)
        if took > objective { Counter(label: "reconciled_payments_settled_late", dimensions: state).increment() }
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

    func missed(_ missing: MissingProvider) {
        Counter(
            label: "reconciled_provider_missing",
            dimensions: [("provider", missing.provider.name), ("reason", missing.name)]
        ).increment()
    }

    func swept(_ count: Int) {
        guard count > 0 else { return }
        swept.increment(by: count)
    }

    func storeFailed(_ failure: StoreFailure) {
        Counter(label: "reconciled_store_failures", dimensions: [("code", failure.code.rawValue)]).increment()
    }
}

extension Payment {
    /// How long it took from what its caller asked for until it ended; `nil` while it has not ended, and where it ended
    /// after a rest without being asked.
    ///
    /// A manual payment may rest for days until its caller captures or cancels it. That time is not counted.
    var timeToSettle: Span? {
        guard let conclusion, let asked = askedToEnd(conclusion) else { return nil }
        return max(conclusion.at - asked, .zero)
    }

    private func askedToEnd(_ conclusion: Conclusion) -> Timestamp? {
        // How long its payer took is not counted either.
        if actionAskedAt != nil { return nil }
        if captureMode == .automatic { return createdAt }
        if let capture, capture.isFound != true { return capture.at }
        if let cancel { return cancel.at }
        switch conclusion.reason?.code {
        // It never came to rest.
        case .declined, .refused, .deadlinePassed: return createdAt
        case .canceledByCaller, .authorizationExpired, .authorizationVoided, .legLost, .captureUnavailable,
            .quarantined, nil:
            return nil
        }
    }
}
