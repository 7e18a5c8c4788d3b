import PaymentCore
import Reconciler

/// A provider that keeps what it was asked for under its key, and tells when it was asked.
actor RememberingProvider: PaymentProvider {
    nonisolated let name: ProviderName
    nonisolated let contract = ProviderContract.reference
    private var status: Observation.Status
    private var captures: [Observation.Movement] = []
    /// What was given back; a key that comes again gives back nothing more.
    private(set) var refunds: [Observation.Movement] = []
    private(set) var sent: [EffectKind] = []
    private(set) var firstSent: Timestamp?
    private(set) var inquiries: [Timestamp] = []

    /// - Parameter status: What it knows of every key before it is asked for anything.
    init(_ name: ProviderName, _ status: Observation.Status = .notFound) {
        self.name = name
        self.status = status
    }

    func send(_ order: SendOrder) -> AttemptReport {
        let began = MachineClock().now()
        sent.append(order.kind)
        firstSent = firstSent ?? began
        switch order.kind {
        case .authorize: status = .authorized
        case .sale, .capture: status = .captured
        case .void: status = status == .authorized ? .voided : .tombstoned
        case .refund:
            guard !refunds.contains(where: { $0.key == order.key }) else { break }
            refunds.append(Observation.Movement(key: order.key, amount: order.amount, state: .succeeded))
        }
        if order.kind == .capture {
            captures = [Observation.Movement(key: order.key, amount: order.amount, state: .succeeded)]
        }
        return AttemptReport(
            .accepted, code: "http_201",
            observation: observation(.answer, began: began, order.transactionKey, order.amount))
    }

    func inquire(_ order: InquiryOrder) -> Observation {
        let began = MachineClock().now()
        inquiries.append(began)
        return observation(.inquiry, began: began, order.transactionKey, nil)
    }

    /// Takes what is held, as a request would that was under way when the rows were lost.
    func capture(under key: EffectKey, _ amount: Money) {
        status = .captured
        captures = [Observation.Movement(key: key, amount: amount, state: .succeeded)]
    }

    private func observation(
        _ source: Observation.Source, began: Timestamp, _ key: EffectKey, _ amount: Money?
    ) -> Observation {
        Observation(
            status, began: began, source: source, key: status == .notFound ? nil : key,
            amount: status == .notFound ? nil : amount, captures: captures, refunds: refunds)
    }
}
