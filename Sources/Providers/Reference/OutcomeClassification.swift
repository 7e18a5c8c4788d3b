internal import HTTPTransport
internal import PaymentCore

/// Decides which class of outcome an attempt belongs to.
///
/// Money depends on it, so the rule is: a class that says "no effect" needs proof. Either not a byte was
/// written, or the provider itself said, in a document that its contract knows, that it executed nothing. A
/// status code alone, a page of a gateway, an answer about another key: all of that is `indeterminate`, and
/// leads to an inquiry.
struct OutcomeClassification: Sendable {
    /// How transactions are read.
    let reading: ObservationReading
    /// Whose transaction it should be.
    let payment: PaymentID
    /// The moment before the request was sent.
    let began: Timestamp

    /// The outcome of an attempt without an answer.
    static func report(of failure: TransportFailure) -> AttemptReport {
        AttemptReport(
            failure.provablyNotSent ? .unsent : .indeterminate, code: failure.auditCode,
            bytesWritten: failure.bytesWritten)
    }

    /// The outcome of an attempt with an answer, which had arrived at `now`.
    func report<Change: TransactionChange>(
        of answer: ProviderAnswer, to change: Change, now: Timestamp
    ) -> AttemptReport {
        var report =
            switch answer.content {
            case .transaction(let transaction):
                self.report(of: transaction, status: answer.status, to: change)
            case .problem(let document): self.report(of: document, answer, to: change, now: now)
            case .unreadable(let code): Self.doubt(answer.status, code)
            }
        report.bytesWritten = answer.bytesWritten
        return report
    }

    // MARK: A transaction

    /// By its content; the status line only decides where the content shows nothing of the change.
    private func report<Change: TransactionChange>(
        of transaction: WireTransaction, status: Int, to change: Change
    ) -> AttemptReport {
        // What the provider says of another key says nothing of ours.
        guard transaction.key == change.transactionKey else {
            return AttemptReport(.indeterminate, code: "answer_mismatch")
        }
        let observation = reading.observation(of: transaction, for: payment, began: began, source: .answer)
        let shown = transaction.status.rawValue
        switch change.standing(in: transaction) {
        case .stands:
            return AttemptReport(.accepted, code: shown, observation: observation)
        case .declined(let reason):
            return AttemptReport(
                .declined, code: ShortCode.of(reason) ?? "declined", observation: observation)
        case .ruledOut where status == 409:
            return AttemptReport(.refused, code: "conflict_\(shown)", observation: observation)
        case .tooEarly where status == 409:
            // Nothing was done, and once the provider has decided it may be: not `refused`, which is for
            // ever.
            return AttemptReport(.throttled, code: "conflict_\(shown)", observation: observation)
        case .ruledOut, .tooEarly:
            // A success, or a decline, that the transaction does not show.
            return AttemptReport(.indeterminate, code: "effect_missing")
        }
    }

    // MARK: A problem document

    private func report<Change: TransactionChange>(
        of document: ProblemDocument, _ answer: ProviderAnswer, to change: Change, now: Timestamp
    ) -> AttemptReport {
        let status = answer.status
        // A document about another key says nothing of ours.
        if let key = document.key, key != change.ownKey {
            return AttemptReport(.indeterminate, code: "answer_mismatch")
        }
        guard let problem = ReferenceProblem(document, status: status) else {
            return Self.undocumented(document, status)
        }
        let namesKey = document.key != nil
        switch problem {
        case .rateLimited:
            return throttled(problem, answer, now)
        case .unavailable:
            guard answer.retryAfter != nil else { return Self.doubt(status, nil) }
            return throttled(problem, answer, now)
        case .unauthorized:
            return AttemptReport(.refused, code: problem.code, credentialsRefused: true)
        case .notFound where Change.refusals.contains(problem):
            // Only what names the key is a read of it as well.
            let missing = namesKey ? Observation(.notFound, began: began, source: .answer) : nil
            return AttemptReport(.refused, code: problem.code, observation: missing, namesKey: namesKey)
        case _ where Change.refusals.contains(problem):
            return AttemptReport(.refused, code: problem.code, namesKey: namesKey)
        case .keyReused:
            return AttemptReport(.indeterminate, code: "key_conflict", keyConflicts: namesKey)
        default:
            return Self.doubt(status, nil)
        }
    }

    private func throttled(
        _ problem: ReferenceProblem, _ answer: ProviderAnswer, _ now: Timestamp
    ) -> AttemptReport {
        AttemptReport(.throttled, code: problem.code, retryAfter: answer.retryAfter?.moment(from: now))
    }

    /// 403 and 405 are not in the contract, but whoever writes problem documents and says so has executed
    /// nothing.
    private static func undocumented(_ document: ProblemDocument, _ status: Int) -> AttemptReport {
        // A problem that the contract documents for another status contradicts itself.
        let isCoherent = ReferenceProblem(rawValue: document.type) == nil && document.status == status
        return switch status {
        case 403 where isCoherent:
            AttemptReport(.refused, code: "http_403", credentialsRefused: true)
        case 405 where isCoherent:
            AttemptReport(.refused, code: "http_405", namesKey: document.key != nil)
        default:
            doubt(status, nil)
        }
    }

    // MARK: Neither

    /// Anything may have happened.
    ///
    /// `unreadable` says what was wrong with a body that should have been a transaction.
    private static func doubt(_ status: Int, _ unreadable: String?) -> AttemptReport {
        let code =
            switch status {
            case 200...299: unreadable ?? "no_transaction"
            case 300...399: "redirect_refused"
            case 409, 422: "key_conflict"
            case 410: "not_after_passed"
            default: "http_\(status)"
            }
        return AttemptReport(.indeterminate, code: code)
    }
}
