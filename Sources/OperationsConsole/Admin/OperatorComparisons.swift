public import HTTPEdge
public import Reconciler

/// A request of an operator, after its token and its size were checked.
public struct OperatorRequest: Sendable, Hashable {
    /// Whose token it came with.
    public let person: String
    /// What that person may do.
    public let role: OperatorRole
    /// Whose token came as `Approval`, if one did.
    public let approver: String?
    /// The text at the place of the identifier in the path; empty where there is none.
    public let id: String
    /// The query without its question mark.
    public let query: String?
    /// The body; empty where the operation takes none.
    public let body: [UInt8]

    /// A request.
    public init(
        person: String, role: OperatorRole = .operator, approver: String? = nil, id: String = "",
        query: String? = nil, body: [UInt8] = []
    ) {
        self.person = person
        self.role = role
        self.approver = approver
        self.id = id
        self.query = query
        self.body = body
    }
}

/// What operators may ask of comparisons.
public struct OperatorComparisons: Sendable {
    /// The operations.
    public enum Operation: Sendable, Hashable, CaseIterable {
        /// `GET /v1/reconciliations`
        case listRuns
        /// `POST /v1/reconciliations`
        case planRun
        /// `GET /v1/reconciliations/{id}`
        case readRun
        /// `GET /v1/reconciliations/{id}/findings`
        case listFindings
        /// `POST /v1/reconciliations/{id}/abandon`
        case abandonRun
        /// `GET /v1/discrepancies`
        case listDiscrepancies
        /// `GET /v1/discrepancies/{id}`
        case readDiscrepancy
        /// `POST /v1/discrepancies/{id}/assignment`
        case assign
        /// `POST /v1/discrepancies/{id}/comments`
        case comment
        /// `POST /v1/discrepancies/{id}/close`
        case close

        /// Whether a JSON body comes with it.
        public var takesBody: Bool {
            switch self {
            case .planRun, .assign, .comment, .close: true
            default: false
            }
        }
    }

    /// Answers an operation.
    public let answer: @Sendable (Operation, OperatorRequest) async -> OperatorAnswer

    /// What operators may ask.
    public init(answer: @escaping @Sendable (Operation, OperatorRequest) async -> OperatorAnswer) {
        self.answer = answer
    }
}

/// The descriptions of the interfaces, as OpenAPI documents in YAML.
public struct OperationsDescriptions: Sendable {
    /// What `/openapi.yaml` answers: the operations API.
    public let operations: [UInt8]
    /// What `/payments.yaml` answers: the caller API.
    public let payments: [UInt8]

    /// Descriptions; empty by default.
    public init(operations: [UInt8] = [], payments: [UInt8] = []) {
        self.operations = operations
        self.payments = payments
    }
}

extension OperatorComparisons {
    /// Answers from a desk.
    public init(desk: ComparisonDesk) {
        let routes = ComparisonRoutes(desk: desk)
        self.init { operation, request in
            switch operation {
            case .listRuns: await routes.runs(query: request.query)
            case .planRun: await routes.plan(query: request.query, body: request.body)
            case .readRun: await routes.run(request.id, query: request.query)
            case .listFindings: await routes.findings(of: request.id, query: request.query)
            case .abandonRun: await routes.abandon(request.id, query: request.query)
            case .listDiscrepancies: await routes.discrepancies(query: request.query)
            case .readDiscrepancy: await routes.discrepancy(request.id, query: request.query)
            case .assign:
                await routes.assign(request.id, query: request.query, body: request.body, by: request.person)
            case .comment:
                await routes.comment(request.id, query: request.query, body: request.body, by: request.person)
            case .close:
                await routes.close(request.id, query: request.query, body: request.body, by: request.person)
            }
        }
    }
}
