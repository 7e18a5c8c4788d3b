public import PaymentCore

/// Steps one payment: a synchronous machine around ``PaymentMachine`` that makes every change durable before it asks
/// for
/// what the change decided. Async code executes its outputs and feeds the results back as inputs; a simulator does
/// the
/// same in virtual time.
public struct OperationRunner: Sendable {
    private enum Phase {
        case idle
        case committing(Pending)
        case reloading(Pending)
        /// Requests would be refused by what may be old news; the payment is read first. Counts those that were here
        /// before the read.
        case checking(Int)
        case ended
    }

    /// A change on its way, with what it takes to make it again on a newer state.
    private struct Pending {
        var change: PaymentChange
        var next: PaymentMachine
        var actions: [PaymentAction]
        var events: [PaymentEvent]
        var request: Request?
        /// The request came too late. That is its settled answer, so its key is written all the same.
        var refusal: OperationRefusal?
        var tries = 0
    }

    /// The last durable state, with what is under way.
    private var durable: PaymentMachine
    private var token: LeaseToken
    private var phase: Phase = .idle
    private var events: [PaymentEvent] = []
    private var requests: [Request] = []
    private var abandonedTickets: [Int] = []

    /// A runner for a payment that is leased under `token`.
    public init(machine: PaymentMachine, token: LeaseToken) {
        durable = machine
        self.token = token
    }

    /// The payment as it is durable.
    public var payment: Payment { durable.payment }
    /// The lease.
    public var lease: LeaseToken { token }
    /// Whether it is over.
    public var hasEnded: Bool {
        if case .ended = phase { return true }
        return false
    }
    /// Requests that were not answered; whoever ends the runner early answers them.
    public var unansweredTickets: [Int] {
        var tickets = requests.map(\.ticket) + abandonedTickets
        switch phase {
        case .committing(let pending), .reloading(let pending): tickets += [pending.request?.ticket].compactMap { $0 }
        case .idle, .checking, .ended: break
        }
        return tickets
    }

    /// Takes what arrived while the last change was on its way, and is left when the runner ends.
    ///
    /// A read is not left: whoever has the payment now may have sent something since it began, of which it says nothing
    /// (seed 3641238001). It is made again.
    public mutating func takeLeftovers() -> (events: [PaymentEvent], requests: [Request]) {
        defer {
            events.removeAll()
            requests.removeAll()
        }
        let left = events.filter { event in
            if case .inquired = event { return false }
            return true
        }
        return (left, requests)
    }

    /// Begins with what is known already, so that it does not end before that was looked at.
    public mutating func begin(
        with events: [PaymentEvent], requests: [Request], _ context: MachineContext
    ) -> [Output] {
        self.events += events
        self.requests += requests
        return advance(context, readAfter: self.requests.count)
    }

    /// Takes an input and says what is to be done.
    public mutating func handle(_ input: Input, _ context: MachineContext) -> [Output] {
        switch input {
        case .event(let event):
            events.append(event)
        case .request(let request):
            requests.append(request)
        case .committed(let result):
            return took(result, context)
        case .commitFailed(let failure):
            return commitFailed(failure)
        case .reloaded(let payment):
            return rebased(on: payment, context)
        case .reloadFailed:
            return abandon("the payment could not be read again")
        case .leaseLost:
            return lostLease()
        }
        guard case .idle = phase else { return [] }
        return advance(context)
    }

    /// Applies what waits, and asks for one durable change.
    ///
    /// - Parameter readAfter: how many of the requests are older than the read that the payment is known from. Another
    ///   holder may go on at any time: a change finds that out by itself, a refusal needs a read after its request.
    private mutating func advance(_ context: MachineContext, readAfter: Int = 0) -> [Output] {
        var outputs: [Output] = []
        var machine = durable
        var actions: [PaymentAction] = []
        let taken = events
        events.removeAll()
        for event in taken { actions += machine.handle(event, context) }
        var request: Request?
        var refusal: OperationRefusal?
        var isInDoubt = false
        var current = readAfter
        while request == nil, !isInDoubt, let candidate = requests.first {
            do {
                actions += try OperationRunner.apply(candidate, to: &machine, context)
                request = candidate
            } catch .tooLate(let state) {
                request = candidate
                refusal = .tooLate(state: state)
                machine.keepRefusal(of: candidate.record.operation.rawValue, key: candidate.record.key, context)
            } catch {
                isInDoubt = current <= 0 || machine.payment != durable.payment
                if isInDoubt { break }
                outputs.append(.answered(ticket: candidate.ticket, .refused(error)))
            }
            requests.removeFirst()
            current -= 1
        }
        guard machine.payment != durable.payment || request != nil else {
            durable = machine
            outputs += actions.map { .perform($0) }
            guard isInDoubt else { return outputs + finishIfIdle() }
            phase = .checking(requests.count)
            return outputs + [.reload]
        }
        let pending = Pending(
            change: change(to: machine, request), next: machine, actions: actions, events: taken,
            request: request, refusal: refusal)
        phase = .committing(pending)
        return outputs + [.commit(pending.change)]
    }

    private static func apply(
        _ request: Request, to machine: inout PaymentMachine, _ context: MachineContext
    ) throws(OperationRefusal) -> [PaymentAction] {
        let key = request.record.key
        switch request.operation {
        case .cancel(let reason):
            return try machine.cancel(CancelRequest(key: key, reason: reason, at: context.now), context)
        case .capture(let amounts):
            return try machine.capture(key: key, amounts: amounts, context)
        case .refund(let amounts, let reason):
            return try machine.refund(key: key, amounts: amounts, reason: reason, context)
        }
    }

    private func change(to machine: PaymentMachine, _ request: Request?) -> PaymentChange {
        let isLast = machine.busy.isEmpty && requests.isEmpty
        return PaymentChange(
            payment: machine.payment, entries: machine.newEntries,
            lease: isLast ? .releasing(token) : .holding(token), record: request?.record)
    }

    private mutating func took(_ result: CommitResult, _ context: MachineContext) -> [Output] {
        guard case .committing(var pending) = phase else { return [] }
        switch result {
        case .committed(let version, _):
            return durablyChanged(pending, version: version, context)
        case .versionConflict:
            phase = .reloading(pending)
            return [.reload]
        case .leaseLost:
            return abandon("the lease was lost")
        case .duplicate(let record):
            var outputs: [Output] = []
            if let request = pending.request {
                outputs.append(.answered(ticket: request.ticket, .duplicate(record)))
                pending.request = nil
                pending.refusal = nil
            }
            phase = .idle
            events = pending.events + events
            return outputs + advance(context)
        }
    }

    private mutating func durablyChanged(
        _ pending: Pending, version: Int64, _ context: MachineContext
    ) -> [Output] {
        durable = pending.next
        durable.committed(version: version)
        var outputs: [Output] = [.changed(durable.payment)]
        if let request = pending.request {
            let answer = pending.refusal.map { Answer.refused($0) } ?? .taken(durable.payment)
            outputs.append(.answered(ticket: request.ticket, answer))
        }
        outputs += pending.actions.map { .perform($0) }
        if case .releasing = pending.change.lease {
            phase = .ended
            return outputs + [.finished(release: nil)]
        }
        phase = .idle
        if events.isEmpty, requests.isEmpty { return outputs + finishIfIdle() }
        return outputs + advance(context)
    }

    private mutating func finishIfIdle() -> [Output] {
        guard durable.busy.isEmpty, requests.isEmpty, events.isEmpty else { return [] }
        phase = .ended
        return [.finished(release: token)]
    }

    private mutating func commitFailed(_ failure: StoreFailure) -> [Output] {
        guard case .committing(var pending) = phase else { return [] }
        guard failure.isPassing else { return abandon("the store failed: \(failure.code.rawValue)") }
        if failure.code == .indeterminate {
            phase = .reloading(pending)
            return [.reload]
        }
        let tries = pending.tries
        pending.tries += 1
        phase = .committing(pending)
        return [.commitAgain(pending.change, try: tries)]
    }

    private mutating func rebased(on payment: Payment, _ context: MachineContext) -> [Output] {
        if case .checking(let count) = phase {
            if payment.version != durable.payment.version { durable.rebase(on: payment) }
            phase = .idle
            return advance(context, readAfter: count)
        }
        guard case .reloading(let pending) = phase else { return [] }
        var written = pending.next
        written.committed(version: pending.change.payment.version + 1)
        if payment == written.payment {
            // The change was written after all: an indeterminate commit is settled by reading, never by assuming. The
            // whole payment is compared, since another process may have written a change that looks much like it.
            phase = .committing(pending)
            let outputs = durablyChanged(pending, version: payment.version, context)
            // What another process wrote without the lease may be equal to the last bit, where no audit entry tells
            // them apart. Then the lease is still ours. To give back what was given back does nothing.
            return outputs.map { if case .finished = $0 { .finished(release: token) } else { $0 } }
        }
        durable.rebase(on: payment)
        events = pending.events + events
        if let request = pending.request { requests.insert(request, at: 0) }
        phase = .idle
        return advance(context)
    }

    /// A renewal found that the lease is not ours any more. Whatever is being written or read again tells it more
    /// exactly: the last change may have ended the lease itself.
    private mutating func lostLease() -> [Output] {
        switch phase {
        case .idle, .checking: abandon("the lease was lost")
        case .committing, .reloading, .ended: []
        }
    }

    private mutating func abandon(_ reason: String) -> [Output] {
        switch phase {
        case .committing(let pending), .reloading(let pending):
            if let request = pending.request { abandonedTickets.append(request.ticket) }
        case .idle, .checking, .ended: break
        }
        phase = .ended
        return [.abandoned(reason: reason)]
    }
}
