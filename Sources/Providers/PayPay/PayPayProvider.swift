internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// PayPay's direct debit over HTTP (`docs/providers/paypay.md`).
///
/// `merchantPaymentId` is our key, so the payment is sent at once and found by it. Each call sends the effect itself at
/// most once; everything else reads.
struct PayPayProvider: AdaptedProvider {
    let name: ProviderName
    let contract: ProviderContract
    /// The store whose transactions are sent; `nil` names none.
    let store: StoreID?
    let client: ProviderClient
    let clock: any WallClock

    func validate(_ amount: Money) throws(UnconvertibleAmount) { _ = try PayPayAmounts.units(of: amount) }

    func send(_ order: SendOrder) async -> AttemptReport {
        let units: Int64
        do {
            units = try PayPayAmounts.units(of: order.amount)
        } catch {
            // Callers are told beforehand; what comes through all the same is a defect here, and nothing was sent.
            return AttemptReport(.refused, code: "amount_\(error.reason.rawValue)")
        }
        let change = PayPayChange(order: order, units: units, began: clock.now())
        return switch order.kind {
        case .authorize, .sale: await charge(change)
        case .capture: await capture(change)
        case .refund: await refund(change)
        case .void: await cancel(change)
        }
    }

    func inquire(_ order: InquiryOrder) async -> Observation {
        let began = clock.now()
        switch await find(order.transactionKey) {
        case .found(let transaction):
            return reading(order.phases).observation(
                of: transaction, payment: order.payment, began: began, source: .inquiry)
        case .absent: return Observation(.notFound, began: began, source: .inquiry)
        case .unknown(let unknown):
            return Observation(.unavailable, began: began, source: .inquiry, reason: unknown.code)
        }
    }

    func reading(_ phases: ProviderContract.Phases?) -> PayPayReading {
        PayPayReading(keyFormat: contract.keyFormat, phases: phases ?? contract.phases)
    }

    func observation(of transaction: PayPayPayment, _ change: PayPayChange, began: Timestamp) -> Observation {
        reading(change.order.phases).observation(
            of: transaction, payment: change.order.shownPayment, began: began, source: .answer)
    }

    // MARK: The wire

    /// Sends one request.
    ///
    /// - Parameter change: Whose order it belongs to: it must begin before that order's last moment. `nil` for a read,
    ///   which may begin at any time.
    func exchange<Request: PayPayRequest>(
        _ request: Request, _ change: PayPayChange? = nil
    ) async -> Result<PayPayReply, TransportFailure> {
        do {
            let response = try await client.exchange(request, startBefore: change?.startBefore)
            return .success(request.decode(response))
        } catch {
            return .failure(error)
        }
    }

    /// What is found under a key.
    enum Found: Sendable {
        case found(PayPayPayment)
        case absent
        case unknown(Unknown)
    }

    /// Why nothing is known.
    struct Unknown: Sendable {
        let code: String
        var retryAfter: Timestamp?
        var outcome = OutcomeClass.unsent
        var credentialsRefused = false

        /// The report of a change before which something could not be had: nothing of it was sent.
        var report: AttemptReport {
            AttemptReport(outcome, code: code, retryAfter: retryAfter, credentialsRefused: credentialsRefused)
        }
    }

    func find(_ key: EffectKey) async -> Found {
        switch await exchange(GetPayment(merchantPaymentID: key.text)) {
        case .failure(let failure): return .unknown(Unknown(code: failure.auditCode))
        case .success(let reply):
            if reply.isMissing { return .absent }
            if let payment = reply.read(PayPayPayment.init) {
                // What PayPay says of another payment says nothing of ours.
                guard payment.merchantPaymentID == key.text else {
                    return .unknown(Unknown(code: "answer_mismatch"))
                }
                return .found(payment)
            }
            let report = PayPayAnswers.report(of: reply, at: clock.now())
            let isKept = report.outcome == .throttled || report.credentialsRefused
            return .unknown(
                Unknown(
                    code: report.code, retryAfter: report.retryAfter, outcome: isKept ? report.outcome : .unsent,
                    credentialsRefused: report.credentialsRefused))
        }
    }
}

/// A change that is asked for.
struct PayPayChange: Sendable {
    let order: SendOrder
    let amount: PayPayAmount
    /// When it began, by our clock.
    let began: Timestamp
    /// Not one byte may be written after this moment.
    let startBefore: ContinuousClock.Instant

    init(order: SendOrder, units: Int64, began: Timestamp) {
        self.order = order
        amount = PayPayAmount(amount: units, currency: PayPayAmounts.currency)
        self.began = began
        startBefore = .now + .milliseconds((order.startBefore - began).milliseconds)
    }

    /// When it was asked for, as PayPay counts: seconds since 1970.
    var seconds: Int64 { began.milliseconds / 1_000 }
}
