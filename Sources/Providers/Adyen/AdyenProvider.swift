internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// Adyen's Checkout API over HTTP (`docs/providers/adyen.md`).
///
/// Nothing reads a payment there. Each call sends the effect itself, under our key as the idempotency key: sent again,
/// it is answered as it was at first. What became of a capture, a release or a refund is told by a notification later.
struct AdyenProvider: AdaptedProvider {
    let name: ProviderName
    let contract: ProviderContract
    /// The store whose transactions are sent; `nil` names none.
    let store: StoreID?
    let client: ProviderClient
    let clock: any WallClock
    /// The account is in each body.
    let tokens: any TokenSource

    var listing: (any ListingProvider)? { nil }

    func validate(_ amount: Money) throws(UnconvertibleAmount) { _ = try AdyenAmounts.units(of: amount) }

    func send(_ order: SendOrder) async -> AttemptReport {
        let began = clock.now()
        let amount: AdyenAmount
        do {
            amount = AdyenAmount(
                value: try AdyenAmounts.units(of: order.amount), currency: order.amount.currency.code)
        } catch {
            // Callers are told beforehand; what comes through all the same is a defect here, and nothing was sent.
            return AttemptReport(.refused, code: "amount_\(error.reason.rawValue)")
        }
        guard let merchant = await merchant() else { return AttemptReport(.unsent, code: "no_token") }
        let change = AdyenChange(order: order, amount: amount, merchant: merchant, began: began, store: store)
        switch order.kind {
        case .authorize, .sale:
            guard let instrument = AdyenInstrument(order.instrument.token) else {
                return AttemptReport(.refused, code: "instrument_form")
            }
            return await exchange(CreateAdyenPayment(change, instrument), change, read: change.charged)
        case .capture, .refund:
            guard let reference = order.transactionReference else {
                return AttemptReport(.unsent, code: "no_reference")
            }
            let isCapture = order.kind == .capture
            return await exchange(
                ModifyAdyenPayment(change, isCapture ? .captures : .refunds, of: reference), change,
                read: change.modified)
        case .void:
            return await exchange(
                CancelAdyenPayment(change, of: order.transactionReference), change, read: change.modified)
        }
    }

    /// Nobody asks: the contract says that what is in doubt is sent again.
    func inquire(_ order: InquiryOrder) async -> Observation {
        Observation(.unavailable, began: clock.now(), source: .inquiry, reason: "cannot_be_asked")
    }

    private func merchant() async -> String? {
        do {
            return AdyenCredentials(try await tokens.token().secret)?.merchant
        } catch {
            return nil
        }
    }

    /// Sends one request, and reads its answer as what it should be.
    private func exchange<Request: AdyenRequest>(
        _ request: Request, _ change: AdyenChange,
        read: (AnswerObject, _ namesKey: Bool) throws(MalformedAnswer) -> AttemptReport
    ) async -> AttemptReport {
        let reply: AdyenReply
        do {
            reply = request.decode(try await client.exchange(request, startBefore: change.startBefore))
        } catch {
            return OutcomeClassification.report(of: error)
        }
        guard case .object(let object) = reply.content else {
            return AdyenAnswers.report(of: reply, key: change.order.key, at: clock.now())
        }
        var report: AttemptReport
        do {
            report = try read(object, reply.key == change.order.key.text)
        } catch {
            report = AttemptReport(.indeterminate, code: "malformed_body")
        }
        report.bytesWritten = reply.bytesWritten
        return report
    }
}

/// A stored card: whose it is, and which of theirs.
struct AdyenInstrument: Sendable {
    let shopper: String
    let card: String

    /// Reads `SHOPPER_REFERENCE:STORED_PAYMENT_METHOD_ID`; `nil` if it has another form.
    init?(_ token: String) {
        let parts = token.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, parts.allSatisfy({ (1...256).contains($0.utf8.count) }) else { return nil }
        (shopper, card) = (parts[0], parts[1])
    }
}

/// A change that is asked for, and what its answers mean.
struct AdyenChange: Sendable {
    let order: SendOrder
    let amount: AdyenAmount
    let merchant: String
    /// When it began, by our clock.
    let began: Timestamp
    let store: StoreID?
    /// Not one byte may be written after this moment.
    let startBefore: ContinuousClock.Instant

    init(order: SendOrder, amount: AdyenAmount, merchant: String, began: Timestamp, store: StoreID?) {
        (self.order, self.amount, self.merchant, self.began, self.store) = (order, amount, merchant, began, store)
        startBefore = .now + .milliseconds((order.startBefore - began).milliseconds)
    }

    /// The answer to a payment (docs.adyen.com/online-payments/build-your-integration/payment-result-codes).
    ///
    /// - Parameter namesKey: Whether the answer returned our key. An answer that names neither it nor our reference may
    ///   be about anything.
    func charged(_ object: AnswerObject, namesKey: Bool) throws(MalformedAnswer) -> AttemptReport {
        let payment = try AdyenPayment(object)
        var seen = Observation(
            .notFound, began: began, source: .answer, key: order.transactionKey, amount: order.amount)
        guard payment.merchantReference.map({ $0 == order.transactionKey.text }) ?? namesKey else {
            return AttemptReport(.indeterminate, code: "answer_mismatch")
        }
        if let amount = payment.amount, amount != self.amount {
            seen.amount = AdyenAmounts.money(amount.value, amount.currency)
            if seen.amount == nil { seen.contradiction = "amount_unreadable" }
        }
        switch payment.result {
        case .authorised: seen.status = .authorized
        case .pending, .received: seen.status = .pending
        // Nobody here shows the payer what they would have to do, so it can never be done.
        case .actionRequired:
            seen.status = .declined
            seen.reason = "payer_action_required"
        case .refused, .cancelled, .error:
            seen.status = .declined
            seen.reason = ShortCode.of(payment.refusal) ?? payment.result.rawValue.lowercased()
        // A part of the amount is no authorization of it, and holds money.
        case .partiallyAuthorised:
            seen.status = .authorized
            seen.contradiction = "partially_authorised"
        }
        let isDeclined = seen.status == .declined
        return AttemptReport(
            isDeclined ? .declined : .accepted, code: seen.reason ?? seen.status.rawValue, observation: seen,
            reference: payment.pspReference)
    }

    /// The answer to a capture, a refund or a cancel: that it was received. How it ends is told later.
    func modified(_ object: AnswerObject, namesKey: Bool) throws(MalformedAnswer) -> AttemptReport {
        let modification = try AdyenModification(object)
        let isOurs =
            (modification.reference.map { $0 == order.key.text } ?? namesKey)
            && (modification.paymentPSPReference ?? order.transactionReference) == order.transactionReference
        guard isOurs else { return AttemptReport(.indeterminate, code: "answer_mismatch") }
        if order.kind != .void, let shown = modification.amount, shown != amount {
            return AttemptReport(.indeterminate, code: "answer_mismatch")
        }
        var seen = Observation(
            order.kind == .refund ? .captured : .authorized, began: began, source: .answer, key: order.transactionKey)
        let movement = Observation.Movement(key: order.key, amount: order.amount, state: .pending)
        switch order.kind {
        case .capture: seen.captures = [movement]
        case .refund: seen.refunds = [movement]
        case .authorize, .sale, .void: break
        }
        return AttemptReport(
            .accepted, code: "received", observation: seen, reference: modification.pspReference)
    }
}
