internal import HTTPTransport
internal import PaymentCore

/// Turns the answer to a status inquiry into an observation.
///
/// Whatever is not plainly an answer of this provider about this key is `unavailable`; in particular a 404 of
/// anybody else, because "not found" may end a payment.
struct InquiryReading: Sendable {
    /// How transactions are read.
    let reading: ObservationReading
    /// What was asked.
    let order: InquiryOrder
    /// The moment before the request was sent.
    let began: Timestamp

    /// Without an answer.
    func observation(of failure: TransportFailure) -> Observation { unavailable(failure.auditCode) }

    /// With an answer.
    func observation(of answer: ProviderAnswer) -> Observation {
        switch answer.content {
        case .transaction(let transaction) where answer.status == 200:
            guard reading.key(transaction.key) == order.transactionKey else { return unavailable("answer_mismatch") }
            return reading.observation(of: transaction, for: order.payment, began: began, source: .inquiry)
        case .problem(let document):
            switch ReferenceProblem(document, status: answer.status) {
            case .notFound: return Observation(.notFound, began: began, source: .inquiry)
            case .some(let problem): return unavailable(problem.code)
            case nil: return unavailable("http_\(answer.status)")
            }
        case .unreadable(let code) where answer.status == 200:
            return unavailable(code)
        case .transaction, .unreadable:
            return unavailable(
                (300...399).contains(answer.status) ? "redirect_refused" : "http_\(answer.status)")
        }
    }

    private func unavailable(_ reason: String) -> Observation {
        Observation(.unavailable, began: began, source: .inquiry, reason: reason)
    }
}
