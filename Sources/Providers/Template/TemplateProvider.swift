internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// The service over HTTP. Each call sends the effect at most once; everything else reads.
struct TemplateProvider: AdaptedProvider {
    let name: ProviderName
    let contract: ProviderContract
    let amounts: AmountFormat
    let client: ProviderClient
    let clock: any WallClock

    func validate(_ amount: Money) throws(UnconvertibleAmount) { _ = try amounts.wire(amount) }

    func send(_ order: SendOrder) async -> AttemptReport {
        let amount: WireAmount
        do {
            amount = try amounts.wire(order.amount)
        } catch {
            // Callers are told beforehand; what comes through all the same is a defect here, and nothing was sent.
            return AttemptReport(.refused, code: "amount_\(error.reason.rawValue)")
        }
        return switch order.kind {
        case .sale: await change(CreateTemplateDebit(order, amount), order)
        case .refund: await change(RefundTemplateDebit(order, amount), order)
        case .void: await change(ReverseTemplateDebit(order), order)
        // The contract fixes `phases`, so the core asks for neither, and nothing was sent.
        case .authorize, .capture: AttemptReport(.refused, code: "nothing_is_held")
        }
    }

    func inquire(_ order: InquiryOrder) async -> Observation {
        await read(order.transactionKey, payment: order.payment, source: .inquiry)
    }

    private var reading: TemplateReading { TemplateReading(amounts: amounts, keyFormat: contract.keyFormat) }

    private func change<Request: TemplateRequest>(_ request: Request, _ order: SendOrder) async -> AttemptReport {
        let began = clock.now()
        let startBefore = ContinuousClock.now + .milliseconds((order.startBefore - began).milliseconds)
        let reply: TemplateReply
        do {
            reply = request.decode(try await client.exchange(request, startBefore: startBefore))
        } catch {
            return OutcomeClassification.report(of: error)
        }
        var report: AttemptReport
        switch reply.content {
        case .debit(let debit) where reading.key(debit.reference) == order.transactionKey:
            let known = reading.observation(of: debit, payment: order.shownPayment, began: began, source: .answer)
            report = AttemptReport(of: order, showing: known)
        // What the service says of another debit says nothing of ours.
        case .debit: report = AttemptReport(.indeterminate, code: "answer_mismatch")
        case .error(let code): report = await settled(TemplateAnswers.report(of: reply, code, at: clock.now()), order)
        case .unreadable(let code): report = AttemptReport(.indeterminate, code: code)
        }
        report.bytesWritten = reply.bytesWritten
        return report
    }

    /// Reads what there is, where the service said that it did nothing: its errors do not name what they are about.
    private func settled(_ said: AttemptReport, _ order: SendOrder) async -> AttemptReport {
        guard said.outcome == .declined || said.outcome == .refused, !said.credentialsRefused else { return said }
        return said.settled(order, by: await read(order.transactionKey, payment: order.shownPayment, source: .answer))
    }

    /// One read. Only the debit itself, or the service's own word that there is none, is an answer.
    private func read(
        _ key: EffectKey, payment: PaymentID, source: Observation.Source
    ) async -> Observation {
        let began = clock.now()
        func unavailable(_ reason: String) -> Observation {
            Observation(.unavailable, began: began, source: source, reason: reason)
        }
        let request = GetTemplateDebit(reference: key.text)
        let reply: TemplateReply
        do {
            reply = request.decode(try await client.exchange(request))
        } catch {
            return unavailable(error.auditCode)
        }
        switch reply.content {
        case .debit(let debit) where reading.key(debit.reference) == key:
            return reading.observation(of: debit, payment: payment, began: began, source: source)
        case .debit: return unavailable("answer_mismatch")
        case .error(TemplateAnswers.missing) where reply.status == 404:
            return Observation(.notFound, began: began, source: source)
        case .error(let code): return unavailable(ShortCode.of(code) ?? "http_\(reply.status)")
        case .unreadable(let code): return unavailable(code)
        }
    }
}
