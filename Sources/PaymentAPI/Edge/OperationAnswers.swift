internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// Which operation is answered.
enum OperationKind: Sendable, Hashable {
    case create, capture, cancel, refund, reconcile

    /// The status of a settled answer.
    var settledStatus: Int {
        switch self {
        case .create, .refund: 201
        case .capture, .cancel, .reconcile: 200
        }
    }
}

/// Turns what came of an operation into its answer, and keeps the settled ones.
struct OperationAnswers: Sendable {
    let operations: any PaymentOperations
    let clock: any WallClock
    let kind: OperationKind
    let caller: CallerID
    let payment: PaymentID
    /// `nil` for a reconcile, which asks for nothing new.
    let key: IdempotencyKey?
    /// The wait that the caller asked for and got, in seconds.
    let appliedWait: Int64?

    /// Carries the operation out and answers it.
    func answer(
        _ operation: () async throws(OperationFailure) -> OperationResult
    ) async throws(Problem) -> Answer {
        let result: OperationResult
        do {
            result = try await operation()
        } catch {
            return try await answer(to: error)
        }
        switch result {
        case .settled(let payment):
            guard kind != .create else { return try await keep(Answer(creating: payment)) }
            return try await keep(
                Answer(kind.settledStatus, try document(payment), location: location(payment)))
        case .answered(let answer):
            return Answer(kept: answer, isReplayed: false)
        case .replay(let answer):
            return Answer(kept: answer, isReplayed: true)
        case .unsettled(let payment):
            var answer = Answer(202, try document(payment), location: Answer.path(of: payment))
            answer.retryAfter = retryAfter(payment)
            answer.appliedWait = appliedWait.map { Int($0) }
            return answer
        case .inFlight(let payment):
            var problem = Problem(.inFlight, 409, "The first request is still settling")
            problem.isRetryable = true
            problem.retryAfter = retryAfter(payment)
            problem.payment = payment.id
            throw problem
        }
    }

    /// A cancel or capture that comes too late is settled by that: the answer is kept like any other.
    private func answer(to failure: OperationFailure) async throws(Problem) -> Answer {
        let problem = Problem(failure, of: kind, payment: payment)
        guard problem.kind == .tooLate else { throw problem }
        return try await keep(Answer(problem))
    }

    private func keep(_ answer: Answer) async throws(Problem) -> Answer {
        guard let key else { return answer }
        do {
            let kept = try await operations.keep(answer.stored, caller: caller, key: key)
            return Answer(kept: kept, isReplayed: kept != answer.stored)
        } catch {
            // Not kept is not answered: a later replay could differ. The same key gets there again.
            throw Problem(error, of: kind, payment: payment)
        }
    }

    private func document(_ payment: Payment) throws(Problem) -> JSONValue {
        guard kind == .refund else { return PaymentRendering.payment(payment) }
        guard let refund = payment.refunds.first(where: { $0.key == key }) else { throw .internalError() }
        return PaymentRendering.refund(refund, of: payment)
    }

    private func location(_ payment: Payment) -> String? {
        kind == .refund ? Answer.path(of: payment) : nil
    }

    /// When something will be due for the payment, in whole seconds from 1 to 60.
    private func retryAfter(_ payment: Payment) -> Int {
        guard let due = payment.dueAt else { return 60 }
        let milliseconds = (due - clock.now()).milliseconds
        return Int(min(max(milliseconds, 0) / 1_000, 59)) + 1
    }
}
