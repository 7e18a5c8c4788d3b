internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

extension Problem {
    /// The problem of an operation that was not taken.
    init(_ failure: OperationFailure, of kind: OperationKind, payment: PaymentID?) {
        switch failure {
        case .notFound:
            self = .notFound
        case .keyReused:
            self.init(
                .keyReused, 422, "Idempotency-Key was used with another request", field: "Idempotency-Key")
        case .keySpent:
            self.init(.keySpent, 410, "Idempotency-Key is spent")
            self.payment = payment
        case .undone(let id):
            self.init(
                .keySpent, 410, "Idempotency-Key is spent",
                detail: "Before this request the payment was found at a provider without being in the books, and was "
                    + "undone. Nothing is charged; to charge it, create it under another key.")
            self.payment = id
        case .refused(let refusal, let id):
            self.init(refusal, of: kind, payment: id)
        case .notAccepting(let reason, let retryAfter):
            self = .notAccepting(reason, retryAfter: retryAfter)
        case .notActive(let found):
            self.init(found)
        case .store(let failure):
            self.init(failure)
        }
    }

    /// The problem of a read that failed.
    init(reading failure: OperationFailure) {
        self.init(failure, of: .reconcile, payment: nil)
    }

    private init(_ refusal: OperationRefusal, of kind: OperationKind, payment: PaymentID) {
        switch refusal {
        case .tooLate(let state):
            self.init(.tooLate, 409, kind == .capture ? "Too late to capture" : "Too late to cancel")
            detail =
                kind == .capture
                ? "The payment was captured before; it is \(state.rawValue)."
                : "The payment went forward; it is \(state.rawValue). Refund it instead."
            self.payment = payment
        case .wrongState(let state, let allowed):
            self.init(.stateConflict, 409, "The state does not permit this")
            detail = "The payment is \(state.rawValue); \(allowed)."
            self.payment = payment
        case .beingConfirmed(let from):
            self.init(.beingConfirmed, 503, "The payment is being confirmed")
            detail =
                "Rows were lost, and it is read at its providers before it is known what it permits; reads count from "
                + "\(from.rfc3339). Nothing was done. Repeat the request with the same key."
            self.payment = payment
            isRetryable = true
            retryAfter = 5
        case .disputed(let leg, let dispute):
            self.init(.disputed, 409, "The charge is disputed")
            detail =
                "The payer disputes the charge of leg \(leg) (\(dispute)); a refund beside it may pay twice. Nothing "
                + "was done. Repeat the request once the dispute is over."
            self.payment = payment
        case .invalid(let field, let detail):
            self.init(.invalidRequest, 422, "Invalid request", detail: detail, field: field)
            self.payment = payment
        }
    }

    /// Another site takes payments, or none does at the moment.
    private init(_ found: SiteNotActive) {
        self.init(.siteNotActive, 503, "This site is not active")
        detail = "Site \(found.site) takes no payments: \(found.reason)."
        isRetryable = true
        retryAfter = found.retryAfter
        activeSite = found.activeSite.map { site in
            let address = found.address.map { [JSONMember("url", .string($0))] } ?? []
            return .object([JSONMember("name", .string(site.name))] + address)
        }
    }

    /// Nothing was done, and it may be tried again; unless that is not known, which is no promise of 503.
    private init(_ failure: StoreFailure) {
        if failure.code == .indeterminate {
            self = .internalError(
                "It is not known whether the request was recorded. Retry with the same key.")
        } else if failure.code == .inactive {
            self = .notAccepting("This site is no longer active.", retryAfter: 5)
        } else if failure.isPassing {
            self = .notAccepting("The store is not available.", retryAfter: 1)
        } else {
            self = .internalError()
        }
    }
}
