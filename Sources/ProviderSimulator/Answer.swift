import Foundation

/// What the contract answers, before any fault spoils its way back.
struct Answer: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case transaction(TransactionRecord)
        case problem(Problem)
        case page([TransactionRecord], nextCursor: String?)
        case html
        case stripe(StripeAnswer)
        case paypay(PayPayAnswer)
        case adyen(AdyenAnswer)
    }

    let status: Int
    let content: Content
    var retryAfterSeconds: Int?

    static func transaction(_ status: Int, _ record: TransactionRecord) -> Answer {
        Answer(status: status, content: .transaction(record))
    }

    static func problem(_ problem: Problem, retryAfterSeconds: Int? = nil) -> Answer {
        Answer(status: problem.status, content: .problem(problem), retryAfterSeconds: retryAfterSeconds)
    }

    /// The answer as it is given to a request: a refusal names the key that it was asked under.
    func naming(_ request: ProviderRequest) -> Answer {
        if case .stripe(let call) = request.command { return inStripesWords(call) }
        if case .paypay = request.command { return inPayPaysWords }
        if case .adyen(let call) = request.command { return inAdyensWords(call) }
        guard case .problem(var problem) = content, !request.key.isEmpty else { return self }
        problem.key = request.entryKey.isEmpty ? request.key : request.entryKey
        return Answer(status: status, content: .problem(problem), retryAfterSeconds: retryAfterSeconds)
    }

    /// The answer of a provider that shows refunds under references of its own.
    var withoutRefundKeys: Answer {
        func hidden(_ record: TransactionRecord) -> TransactionRecord {
            var record = record
            for index in record.refunds.indices {
                record.refunds[index].key = "refund-" + BulkOrder.digest([record.refunds[index].key]).prefix(32)
            }
            return record
        }
        switch content {
        case .transaction(let record): return .transaction(status, hidden(record))
        case .page(let records, let next):
            return Answer(status: status, content: .page(records.map(hidden), nextCursor: next))
        case .problem, .html, .stripe, .paypay, .adyen: return self
        }
    }

    /// The answer as Stripe gives it: its errors, and the key that it was asked under.
    private func inStripesWords(_ call: StripeCall) -> Answer {
        var answer: StripeAnswer
        switch content {
        case .problem(let problem): answer = StripeAnswer(problem)
        case .stripe(let known): answer = known
        case .transaction, .page, .html, .paypay, .adyen: return self
        }
        answer.idempotencyKey = call.idempotencyKey
        return Answer(status: answer.status, content: .stripe(answer), retryAfterSeconds: retryAfterSeconds)
    }

    /// The answer as Adyen gives it: its errors, and the key that it was asked under.
    private func inAdyensWords(_ call: AdyenCall) -> Answer {
        var answer: AdyenAnswer
        switch content {
        case .problem(let problem): answer = AdyenAnswer(problem)
        case .adyen(let known): answer = known
        case .transaction, .page, .html, .stripe, .paypay: return self
        }
        answer.idempotencyKey = call.idempotencyKey
        return Answer(status: answer.status, content: .adyen(answer), retryAfterSeconds: retryAfterSeconds)
    }

    /// The answer as PayPay gives it.
    private var inPayPaysWords: Answer {
        guard case .problem(let problem) = content else { return self }
        let answer = PayPayAnswer(problem)
        return Answer(status: answer.status, content: .paypay(answer), retryAfterSeconds: retryAfterSeconds)
    }

    /// What a proxy puts in front of a provider says when it knows nothing.
    static let html = Answer(status: 200, content: .html)

    /// Whether it was given before, and is repeated.
    var isReplay: Bool {
        if case .stripe(let answer) = content { return answer.isReplay }
        if case .adyen(let answer) = content { return answer.isReplay }
        return false
    }

    var contentType: String {
        switch content {
        case .transaction, .page, .stripe, .paypay, .adyen: "application/json"
        case .problem: "application/problem+json"
        case .html: "text/html; charset=utf-8"
        }
    }

    /// - Parameter omittingStatus: leaves `status` out of every transaction, which is the fault
    ///   `missing_status`.
    func body(omittingStatus: Bool = false) throws -> [UInt8] {
        let view = TransactionView(omitsStatus: omittingStatus)
        switch content {
        case .transaction(let record):
            var json = JSONText(capacity: 1024)
            view.write(record, to: &json)
            return json.bytes
        case .problem(let problem):
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return Array(try encoder.encode(problem))
        case .page(let records, let nextCursor):
            var json = JSONText(capacity: 1024 + records.count * 768)
            view.write(page: records, nextCursor: nextCursor, to: &json)
            return json.bytes
        case .stripe(let answer):
            return Array(try answer.text(without: omittingStatus ? "status" : nil).utf8)
        case .paypay(let answer):
            return Array(answer.text(without: omittingStatus ? "status" : nil).utf8)
        case .adyen(let answer):
            return Array(answer.text(withoutResult: omittingStatus).utf8)
        case .html:
            return Array("<html><body><h1>Welcome</h1></body></html>\n".utf8)
        }
    }
}
