package import PaymentCore
package import ProviderSimulator
package import Reconciler

/// Books that agree with what a simulator made in bulk: each payment goes through the shipped machine, with a provider
/// that does at once what it is asked for.
package struct BulkBooks: Sendable {
    private let order: BulkOrder
    private let provider: ProviderName
    private let contract: ProviderContract

    /// A payment did not come to the end that the simulator says it has.
    package struct Incomplete: Error {
        /// Its number in the order.
        package let number: Int
    }

    /// Books of an order that was carried out at a provider.
    package init(order: BulkOrder, provider: ProviderName, contract: ProviderContract) {
        self.order = order
        self.provider = provider
        self.contract = contract
    }

    /// Writes all payments.
    package func fill(_ store: any PaymentStore) async throws {
        let (width, last) = (256, order.first + order.count)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in order.first..<last {
                if number >= order.first + width { try await group.next() }
                group.addTask { try await write(number, store) }
            }
            try await group.waitForAll()
        }
    }

    private func write(_ number: Int, _ store: any PaymentStore) async throws {
        let change = try change(number)
        guard case .committed(_, let token?) = try await store.commit(change) else { throw Incomplete(number: number) }
        try await store.release(change.payment.id, token: token)
    }

    /// One payment, from its creation to its end.
    package func change(_ number: Int) throws -> PaymentChange {
        let made = order.transaction(number)
        let context = MachineContext(now: Timestamp(milliseconds: made.at), contracts: [provider: contract])
        guard let currency = Currency(code: made.amount.currency) else { throw Incomplete(number: number) }
        let amount = try Money(made.amount.value, currency)
        let (caller, key) = (try CallerID(order.caller), try IdempotencyKey(made.idempotencyKey))
        let request = try CreateRequest(
            caller: caller, key: key, amount: amount,
            legs: [.init(provider: provider, instrument: Instrument(token: "tok_bulk"), amount: amount)],
            captureMode: made.isCaptured ? .automatic : .manual, contracts: [provider: contract])
        var (machine, actions) = PaymentMachine.create(request, context)
        var account = Account(amount: amount, now: context.now)
        settle(&machine, actions, &account, context)
        if let refund = made.refund {
            actions = try machine.refund(
                key: IdempotencyKey(refund.idempotencyKey), amounts: [0: Money(refund.amount.value, currency)],
                reason: nil, context)
            settle(&machine, actions, &account, context)
        }
        guard machine.payment.state == (made.isCaptured ? .succeeded : .authorized),
            machine.payment.id.text == made.payment, machine.payment.legs[0].primary.key.text == made.key
        else { throw Incomplete(number: number) }
        return PaymentChange(
            payment: machine.payment, entries: machine.newEntries,
            lease: .creating(holder: "bulk", leaseFor: .minutes(1)),
            record: IdempotencyRecord(
                caller: caller, key: key, operation: .create, payment: machine.payment.id,
                fingerprint: Digest(of: [key.text]), createdAt: context.now))
    }

    private func settle(
        _ machine: inout PaymentMachine, _ actions: [PaymentAction], _ account: inout Account, _ context: MachineContext
    ) {
        var open = actions
        while !open.isEmpty {
            switch open.removeFirst() {
            case .send(let order):
                let report = AttemptReport(.accepted, code: "http_200", observation: account.execute(order))
                open += machine.handle(
                    .attempted(leg: order.leg, effect: order.effect, number: order.number, report), context)
            case .inquire(let order):
                open += machine.handle(.inquired(leg: order.leg, account.shown(.inquiry)), context)
            case .alert: break
            }
        }
    }

    /// The transaction as the provider has it.
    private struct Account {
        let amount: Money
        let now: Timestamp
        var key: EffectKey?
        var status = Observation.Status.authorized
        var captures: [Observation.Movement] = []
        var refunds: [Observation.Movement] = []

        init(amount: Money, now: Timestamp) {
            (self.amount, self.now) = (amount, now)
        }

        mutating func execute(_ order: SendOrder) -> Observation {
            key = order.transactionKey
            let movement = Observation.Movement(key: order.key, amount: order.amount, state: .succeeded)
            switch order.kind {
            case .authorize: status = .authorized
            case .sale: status = .captured
            case .capture: (status, captures) = (.captured, captures + [movement])
            case .refund: refunds.append(movement)
            case .void: status = .voided
            }
            return shown(.answer)
        }

        func shown(_ source: Observation.Source) -> Observation {
            Observation(
                status, began: now, source: source, key: key, amount: amount, captures: captures, refunds: refunds)
        }
    }
}
