internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// Finding what was sent, by lists that show a change as soon as it is made. The search is never asked: it may be an
/// hour behind (docs.stripe.com/search).
extension StripeProvider {
    /// What is found under a key.
    enum Found: Sendable {
        case found(StripeTransaction)
        /// Nothing was confirmed under it. It may have been registered.
        case absent
        case unknown(Unknown)
    }

    /// Why nothing is known.
    struct Unknown: Sendable {
        let code: String
        var retryAfter: Timestamp?
        var outcome = OutcomeClass.unsent
        var credentialsRefused = false
        /// Whether the request can never be had, by what is in it, so that every copy of it is refused as well.
        var isRuledOut = false
    }

    /// The most pages of refunds that are read of one charge.
    private static let mostPages = 20

    /// What is under a key. Before a payer acts there is no charge, and only the intent's own identifier finds it.
    func find(_ key: EffectKey, intent: String?) async -> Found {
        let found = await find(key)
        guard case .absent = found, let intent else { return found }
        switch await exchange(RetrieveIntent(intent: intent)) {
        case .failure(let failure): return .unknown(Unknown(code: failure.auditCode))
        case .success(let reply):
            guard let known = reply.read(StripeIntent.init) else { return .unknown(unknown(reply)) }
            guard known.id == intent, known.metadata[StripeMetadata.key] == key.text else {
                return .unknown(Unknown(code: "answer_mismatch"))
            }
            // What was only registered is not there: it was never confirmed.
            return known.status == .requiresConfirmation ? .absent : .found(StripeTransaction(known))
        }
    }

    /// - Parameter isDated: Whether it is to say when money moved, as the listing does.
    func find(_ key: EffectKey, isDated: Bool = false) async -> Found {
        let charges: [StripeCharge]
        switch await page(ListCharges(transactionKey: key.text, isDated: isDated), of: StripeCharge.init) {
        case .failure(let unknown): return .unknown(unknown)
        case .success(let list):
            // Charges that nobody asked for are an answer to another question.
            guard list.data.allSatisfy({ $0.transferGroup == key.text && !$0.intents.isEmpty }) else {
                return .unknown(Unknown(code: "answer_mismatch"))
            }
            guard !list.hasMore else { return .unknown(Unknown(code: "too_many_charges")) }
            charges = list.data
        }
        guard var transaction = StripeTransaction(charges) else { return .absent }
        guard let charge = transaction.charge else { return .found(transaction) }
        if charge.hasMoreRefunds || charge.refunds == nil {
            switch await refunds(of: charge.id) {
            case .failure(let unknown): return .unknown(unknown)
            case .success(let all): transaction.refunds = all
            }
        }
        if charge.isDisputed {
            switch await page(ListDisputes(charge: charge.id), of: StripeDispute.init) {
            case .failure(let unknown): return .unknown(unknown)
            case .success(let list):
                guard !list.hasMore else { return .unknown(Unknown(code: "too_many_disputes")) }
                transaction.disputes = list.data
            }
        }
        if isDated {
            switch await dated(transaction.refunds) {
            case .failure(let unknown): return .unknown(unknown)
            case .success(let dated): transaction.refunds = dated
            }
        }
        return .found(transaction)
    }

    /// Refunds with the times at which they came back. Only movements tell, so each such refund takes one request.
    func dated(_ refunds: [StripeRefund]) async -> Result<[StripeRefund], Unknown> {
        var dated = refunds
        for index in dated.indices {
            guard let movement = dated[index].cameBackBy else { continue }
            switch await page(ListMovements(by: dated[index].id), of: StripeMovement.init) {
            case .failure(let unknown): return .failure(unknown)
            case .success(let movements):
                // The newest comes first. Another one means that the list is behind: without the time, the charge
                // would be listed twice.
                guard let newest = movements.data.first, newest.id == movement else {
                    return .failure(Unknown(code: "movement_not_found"))
                }
                dated[index].cameBackAt = newest.created
            }
        }
        return .success(dated)
    }

    func refunds(of charge: String) async -> Result<[StripeRefund], Unknown> {
        var all: [StripeRefund] = []
        for _ in 0..<Self.mostPages {
            switch await page(ListRefunds(charge: charge, after: all.last?.id), of: StripeRefund.init) {
            case .failure(let unknown): return .failure(unknown)
            case .success(let list):
                all += list.data
                if !list.hasMore { return .success(all) }
                guard !list.data.isEmpty else { return .failure(Unknown(code: "cursor_does_not_advance")) }
            }
        }
        return .failure(Unknown(code: "too_many_refunds"))
    }

    private func page<Item: Sendable>(
        _ request: some StripeRequest, of item: (AnswerObject) throws(MalformedAnswer) -> Item
    ) async -> Result<StripeList<Item>, Unknown> {
        switch await exchange(request) {
        case .failure(let failure): return .failure(Unknown(code: failure.auditCode))
        case .success(let reply):
            let list = reply.read { object throws(MalformedAnswer) in try StripeList(object, of: item) }
            if let list { return .success(list) }
            return .failure(unknown(reply))
        }
    }

    /// What a reply without an answer means for what was to be sent after it: nothing was sent.
    func unknown(_ reply: StripeReply) -> Unknown {
        let report = StripeAnswers.report(of: reply, at: clock.now())
        return Unknown(
            code: report.code, retryAfter: report.retryAfter,
            outcome: report.outcome == .throttled || report.credentialsRefused ? report.outcome : .unsent,
            credentialsRefused: report.credentialsRefused)
    }
}

extension StripeProvider.Unknown: Error {
    /// The report of a change before which something could not be had.
    var report: AttemptReport {
        AttemptReport(outcome, code: code, retryAfter: retryAfter, credentialsRefused: credentialsRefused)
    }
}
