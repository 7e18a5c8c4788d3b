internal import PaymentCore

/// Following a payment until what was asked is settled, or the wait is over.
extension OperationMachine {
    /// What is followed.
    struct Following {
        /// What is known of the payment.
        var payment: Payment
        /// Under which key it was asked.
        let operation: IdempotencyRecord.Operation
        let key: IdempotencyKey?
        let deadline: Timestamp
        var pause = OperationMachine.shortestLook
        /// The wait is over; what is read now is what is told.
        var isLast = false
        /// The payment was read at its end; the answer that was kept with it is being read.
        var hasEnded = false
    }

    /// Whether it came to its end; for whoever wants all statuses read, its refunds as well.
    func isDone(_ payment: Payment) -> Bool {
        if case .following(let following) = phase, key != nil {
            return OperationMachine.isSettled(payment, following.operation, following.key)
        }
        return OperationMachine.isSettled(payment, .create, nil) && payment.refunds.allSatisfy { $0.state.isFinal }
    }

    /// Whether the payer has to act: the caller must hear of it at once. Whoever repeats the request hears of it when
    /// the provider was asked since.
    func showsPayerAction(_ payment: Payment) -> Bool {
        guard case .create = wish, payment.state == .requiresAction else { return false }
        guard let repeatedAt else { return true }
        return payment.payerStep?.leg.knowledge.map { $0.began >= repeatedAt } ?? false
    }

    mutating func follow(_ payment: Payment, _ now: Timestamp, _ record: IdempotencyRecord? = nil) -> Step? {
        let following = Following(
            payment: payment, operation: record?.operation ?? wish.operation, key: record?.key ?? key,
            deadline: confirmation?.until ?? now + wait)
        phase = .following(following)
        if isDone(payment) { return settled(payment, kept: nil) }
        guard wait > .zero, !showsPayerAction(payment) else {
            return finish(.success(.unsettled(payment)))
        }
        if let news, isDone(news.payment) { return settled(news.payment, kept: news.kept) }
        if let news, showsPayerAction(news.payment) {
            return finish(.success(.unsettled(news.payment)))
        }
        return pause(following, now)
    }

    mutating func settled(_ payment: Payment, kept: StoredAnswer?) -> Step {
        if case .following(let following) = phase, key != nil, following.operation == .create, let kept {
            return finish(.success(.answered(kept)))
        }
        // Reads after a loss may show that it went forward before it was asked to turn back.
        if case .following(let following) = phase, let key,
            OperationMachine.cameTooLate(following.operation, following.key ?? key, payment)
        {
            return finish(.failure(.refused(.tooLate(state: payment.state), payment.id)))
        }
        return finish(.success(.settled(payment)))
    }

    /// Rows were lost, and what the payment permits is known once it was read: it is asked again until then, or until
    /// the wait is over.
    mutating func awaitConfirmation(_ refusal: OperationRefusal, _ now: Timestamp) -> Step {
        let (until, pause) = confirmation ?? (now + wait, OperationMachine.shortestLook)
        guard now < until else {
            return finish(.failure(.refused(refusal, payment)))
        }
        confirmation = (until, min(pause + pause, OperationMachine.longestLook))
        phase = .confirming(refusal)
        return .wait(until: min(until, now + pause))
    }

    mutating func confirm(_ refusal: OperationRefusal, _ input: Input, _ now: Timestamp) -> Step? {
        switch input {
        case .waited: return ask(now)
        case .gaveUp: return finish(.failure(.refused(refusal, payment)))
        default: return nil
        }
    }

    /// Another process may have the payment, and its changes are not heard of here: while that is so, the payment is
    /// read again and again, at longer and longer intervals.
    mutating func follow(_ following: Following, _ input: Input, _ now: Timestamp) -> Step? {
        var following = following
        switch input {
        case .waited:
            following.isLast = now >= following.deadline
            phase = .following(following)
            let id = following.payment.id
            return following.isLast ? .readPayment(id) : .askWhetherInWork(id)
        case .gaveUp:
            following.isLast = true
            phase = .following(following)
            return .readPayment(following.payment.id)
        case .isInWork(let isHere) where isHere || rules.breaks(.othersNotLookedAt):
            following.pause = OperationMachine.longestLook
            return pause(following, now)
        case .isInWork: return .readPayment(following.payment.id)
        case .payment(let found):
            if let found {
                following.payment = found
                phase = .following(following)
                if isDone(found) { return ended(following) }
                if showsPayerAction(found) { return finish(.success(.unsettled(found))) }
            }
            return goOn(following, now)
        case .record(let record) where following.hasEnded: return settled(following.payment, kept: record?.answer)
        case .failed where following.hasEnded: return settled(following.payment, kept: nil)
        // The caller is told what was known before, and asks again.
        case .failed: return goOn(following, now)
        default: return nil
        }
    }

    /// A payment that was read at its end may have been ended by another process, or its news may be on their way: the
    /// answer to its create was kept with the end, and is the one to tell.
    private mutating func ended(_ following: Following) -> Step {
        guard let key, following.operation == .create else { return settled(following.payment, kept: nil) }
        var following = following
        following.hasEnded = true
        phase = .following(following)
        return .readRecord(caller: caller, key: key)
    }

    private mutating func goOn(_ following: Following, _ now: Timestamp) -> Step {
        guard !following.isLast else { return finish(.success(.unsettled(following.payment))) }
        var following = following
        let longer = min(following.pause + following.pause, OperationMachine.longestLook)
        following.pause = longer
        return pause(following, now)
    }

    private mutating func pause(_ following: Following, _ now: Timestamp) -> Step {
        phase = .following(following)
        return .wait(until: min(following.deadline, now + following.pause))
    }
}
