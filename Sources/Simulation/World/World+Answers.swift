internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// The edge: what callers are answered, and how they learn from it.
extension World {
    /// An operation is over.
    mutating func finish(_ ask: Int, _ result: Result<OperationResult, OperationFailure>) {
        if case .success = result, !standing(asks[ask].replica).mayTell { return answer(ask, .unavailable) }
        let store = sites[replicas[asks[ask].replica].site].store
        if case .failure(.store(let failure)) = result, failure.code != .indeterminate,
            replicas[asks[ask].replica].inserted.contains(ask)
        {
            misconduct = "a caller was told that nothing was done of a payment that is written"
        }
        let there = store.rows[tasks[asks[ask].task].payment]?.payment
        switch result {
        case .success(.settled(let payment)): settle(ask, payment)
        case .success(.answered(let stored)), .success(.replay(let stored)): answer(ask, World.answer(stored))
        case .success(.unsettled(let payment)), .success(.inFlight(let payment)):
            answer(ask, .accepted(payment.state))
        case .failure(.keyReused): answer(ask, .keyReused)
        case .failure(.refused(.wrongState(let state, _), _)):
            if there?.isBeingConfirmed == true {
                misconduct = "a caller was refused for a state that nobody has confirmed"
            }
            answer(ask, .refused(state))
        case .failure(.refused(.tooLate(let state), _)): answer(ask, .refused(state))
        case .failure(.refused(.beingConfirmed, _)): answer(ask, .unavailable)
        case .failure(.refused(.invalid, _)), .failure(.refused(.disputed, _)):
            answer(ask, .refused(there?.state ?? .processing))
        // Its place was taken to undo what the provider had of it.
        case .failure(.undone), .failure(.notFound):
            answer(ask, there.map { .refused($0.state) } ?? .unavailable)
        case .failure(.keySpent), .failure(.notAccepting), .failure(.notActive), .failure(.store):
            answer(ask, .unavailable)
        }
    }

    /// A pause of somebody who waits is over.
    mutating func follow(_ ask: Int) { go(on: ask, .waited) }

    /// Keeps the first settled answer under the key, and gives the one that counts.
    mutating func settle(_ ask: Int, _ payment: Payment) {
        let operation = tasks[asks[ask].task].planned.operation
        let replica = asks[ask].replica
        let refund = payment.refunds.first { $0.key == operation.key }?.state
        guard !rules.breaks(.answerForgotten) else { return answer(ask, .settled(payment.state, refund: refund)) }
        guard takesWrites(replica),
            let kept = keep(
                World.stored(payment.state, refund), operation.caller, operation.key, site: replicas[replica].site)
        else { return answer(ask, .unavailable) }
        answer(ask, World.answer(kept))
    }

    private static func stored(_ state: PaymentState, _ refund: RefundState?) -> StoredAnswer {
        let words = [state.rawValue, refund?.rawValue ?? ""].joined(separator: " ")
        return StoredAnswer(status: 200, contentType: "text/plain", location: nil, body: Array(words.utf8))
    }

    private static func answer(_ stored: StoredAnswer) -> CallerAnswer {
        let words = String(decoding: stored.body, as: UTF8.self).split(separator: " ")
        guard let first = words.first, let state = PaymentState(rawValue: String(first)) else { return .unavailable }
        return .settled(state, refund: words.dropFirst().first.flatMap { RefundState(rawValue: String($0)) })
    }

    /// A caller is answered, and learns.
    mutating func answer(_ ask: Int, _ answer: CallerAnswer) {
        guard asks[ask].isOpen else { return }
        asks[ask].isOpen = false
        replicas[asks[ask].replica].waiting.removeAll { $0.ask == ask }
        let task = asks[ask].task
        emit(.answered(tasks[task].planned.operation, answer))
        tasks[task].last = answer
        switch answer {
        case .settled(let state, _):
            tasks[task].isDone = true
            trigger(.answered, task)
            if state == .authorized { trigger(.held, task) }
            if state == .succeeded { trigger(.succeeded, task) }
        case .accepted: trigger(.answered, task)
        case .keyReused: tasks[task].isDone = true
        case .refused(let state):
            // In a state that goes on, it may be possible a little later.
            tasks[task].isDone = ![.processing, .requiresAction, .authorized].contains(state)
        case .unavailable: break
        }
    }
}
