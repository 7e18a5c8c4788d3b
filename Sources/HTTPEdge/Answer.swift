internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// An answer before it is written to the connection.
struct Answer: Sendable, Hashable {
    static let jsonType = "application/json"
    static let problemType = "application/problem+json"

    var status: Int
    var contentType: String
    var body: [UInt8]
    var location: String?
    /// Whole seconds.
    var retryAfter: Int?
    /// The answer was made by an earlier request.
    var isReplayed = false
    /// The wait that was asked for and applied, in seconds.
    var appliedWait: Int?
    var allow: String?
    var closesConnection = false

    init(_ status: Int, _ json: JSONValue, location: String? = nil) {
        self.status = status
        contentType = Answer.jsonType
        body = json.bytes
        self.location = location
    }

    /// The answer to the request that created a payment, once the payment is settled.
    init(creating payment: Payment) {
        self.init(
            OperationKind.create.settledStatus, PaymentRendering.payment(payment), location: Answer.path(of: payment))
    }

    /// Where a payment is read.
    static func path(of payment: Payment) -> String { "/v1/payments/\(payment.id.text)" }

    init(_ problem: Problem) {
        status = problem.status
        contentType = Answer.problemType
        body = problem.json.bytes
        retryAfter = problem.retryAfter
        allow = problem.allow
        closesConnection = problem.closesConnection
    }

    /// The answer of an operation that was kept, byte for byte.
    init(kept answer: StoredAnswer, isReplayed: Bool) {
        status = answer.status
        contentType = answer.contentType
        body = answer.body
        location = answer.location
        self.isReplayed = isReplayed
    }

    /// Bytes of another type.
    init(_ status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// What is kept of it for replays.
    var stored: StoredAnswer {
        StoredAnswer(status: status, contentType: contentType, location: location, body: body)
    }

    /// What an operator is told.
    var told: OperatorAnswer {
        OperatorAnswer(
            status: status, contentType: contentType, location: location, retryAfter: retryAfter, body: body)
    }
}

extension OperatorAnswer {
    /// What an operator is told: the answer, or the problem that stood in its way.
    static func of(_ make: () async throws(Problem) -> Answer) async -> OperatorAnswer {
        do {
            return try await make().told
        } catch {
            return Answer(error).told
        }
    }
}
