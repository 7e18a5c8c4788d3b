internal import HTTPTransport
internal import PaymentCore

/// A request to the service. Any complete answer is a reply: an error is a finding too.
protocol TemplateRequest: ProviderRequest where Response == TemplateReply, ReadingFailure == Never {}

extension TemplateRequest {
    func decode(_ response: HTTPResponse) -> TemplateReply { TemplateReply(response) }
}

/// `POST /accounts/{account}/debits`: takes at once.
struct CreateTemplateDebit: TemplateRequest {
    static let label = "create_debit"

    /// It holds nothing that differs between attempts: the same reference must always come with the same bytes.
    struct Body: Encodable, Sendable {
        let reference: String
        let amount: Int64
        let unit: String
        /// Whose it is. The service shows it again, so that people find the payment.
        let note: String
    }

    let account: String
    let body: Body?

    init(_ order: SendOrder, _ amount: WireAmount) {
        account = order.instrument.token
        body = Body(
            reference: order.key.text, amount: amount.value, unit: amount.currency, note: order.shownPayment.text)
    }

    var method: HTTPMethod { .post }
    var path: [String] { ["accounts", account, "debits"] }
    var flightKey: String? { body.map { "debit:\($0.reference)" } }
}

/// `GET /debits/{reference}`: the debit, with its refunds.
struct GetTemplateDebit: TemplateRequest {
    static let label = "get_debit"

    let reference: String

    var method: HTTPMethod { .get }
    var path: [String] { ["debits", reference] }
}

/// `POST /debits/{reference}/reversal`: gives the whole debit back.
struct ReverseTemplateDebit: TemplateRequest {
    static let label = "reverse_debit"

    let reference: String

    init(_ order: SendOrder) { reference = order.transactionKey.text }

    var method: HTTPMethod { .post }
    var path: [String] { ["debits", reference, "reversal"] }
    var flightKey: String? { "reversal:\(reference)" }
}

/// `POST /debits/{reference}/refunds`: gives a part back, or what is left.
struct RefundTemplateDebit: TemplateRequest {
    static let label = "refund_debit"

    struct Body: Encodable, Sendable {
        /// Of the refund itself.
        let reference: String
        let amount: Int64
    }

    let reference: String
    let body: Body?

    init(_ order: SendOrder, _ amount: WireAmount) {
        reference = order.transactionKey.text
        body = Body(reference: order.key.text, amount: amount.value)
    }

    var method: HTTPMethod { .post }
    var path: [String] { ["debits", reference, "refunds"] }
    var flightKey: String? { body.map { "refund:\($0.reference)" } }
}
