public import PaymentCore
public import Reconciler

/// A payment in work: its machine, and the lease under which it is worked on.
public struct Work: Sendable {
    /// The machine.
    public var machine: PaymentMachine
    /// The lease.
    public var token: LeaseToken

    /// The payment as the machine has it.
    public var payment: Payment { machine.payment }

    /// What the machine has done since its last commit, as a change.
    func change(
        _ lease: PaymentChange.LeaseRequirement, _ record: IdempotencyRecord? = nil, answer: StoredAnswer? = nil
    ) -> PaymentChange {
        PaymentChange(
            payment: machine.payment, entries: machine.newEntries, lease: lease, record: record, answer: answer)
    }

    /// A provider's answer that did what was asked.
    func acceptance(of order: SendOrder, at now: Timestamp) -> AttemptReport {
        let leg = payment.legs.first { $0.index == order.leg }
        var observation = Observation(
            .captured, began: now, source: .answer, key: order.transactionKey, amount: leg?.amount)
        switch order.kind {
        case .authorize: observation.status = .authorized
        case .void: observation.status = .voided
        case .sale: break
        case .capture, .refund:
            if let capture = leg?.capture {
                observation.captures = [.init(key: capture.key, amount: capture.amount, state: .succeeded)]
            }
        }
        if order.kind == .refund {
            let others = payment.refunds.flatMap(\.parts).filter { $0.leg == order.leg && $0.state == .succeeded }
            observation.refunds = others.map {
                .init(key: $0.effect.key, amount: $0.effect.amount, state: .succeeded)
            }
            observation.refunds.append(.init(key: order.key, amount: order.amount, state: .succeeded))
        }
        return AttemptReport(.accepted, code: "ok", observation: observation, bytesWritten: 512)
    }

    /// A provider's answer that asks the payer to act first.
    func question(about order: SendOrder, at now: Timestamp) -> AttemptReport {
        var observation = Observation(
            .pending, began: now, source: .answer, key: order.transactionKey, amount: order.amount)
        observation.payerAction = PayerAction(url: WebAddress("https://bank.example/confirm?id=1"))
        return AttemptReport(.accepted, code: "ok", observation: observation, bytesWritten: 512)
    }

    /// A provider's answer that speaks of another amount: people must decide.
    func contradiction(to order: SendOrder, at now: Timestamp) throws -> AttemptReport {
        let observation = Observation(
            .authorized, began: now, source: .answer, key: order.transactionKey,
            amount: try order.amount.adding(order.amount))
        return AttemptReport(.accepted, code: "ok", observation: observation)
    }
}
