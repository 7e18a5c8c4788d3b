internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let effects: [ContractCase] = [
        ContractCase("a payment is found by each key that its providers know") { it in
            var order = Scenario.Order("k1")
            order.legs = [("cards", 700), ("wallet", 500)]
            let work = try await it.settle(order)
            let other = try await it.settle(Scenario.Order("k2"))
            let stored = try await it.stored(work.payment.id)
            for leg in stored.legs {
                let keys = [leg.primary, leg.capture, leg.void, leg.compensation].compactMap { $0?.key }
                try require(keys.count >= 2, "each leg was authorized and captured")
                for key in keys {
                    let found = try await it.store.payment(at: leg.provider, effect: key)
                    try require(found, is: stored.id, "the payment of \(key)")
                }
            }
            let key = other.payment.legs[0].primary.key
            let found = try await it.store.payment(at: other.payment.legs[0].provider, effect: key)
            try require(found, is: other.payment.id, "the other payment")
        },
        ContractCase("a payment is found by the key of a refund that was asked for") { it in
            var work = try await it.settle(Scenario.Order("k1"))
            _ = try work.machine.refund(
                key: IdempotencyKey("r1"), amounts: nil, reason: nil, try it.context())
            let lease = try require(
                try await it.store.claim(work.payment.id, holder: "worker", leaseFor: .minutes(1)), "the lease")
            work.token = lease.token
            try await it.save(&work)
            let refund = try require(work.payment.refunds.first?.parts.first, "the refund's part")
            let provider = work.payment.legs[refund.leg].provider
            let found = try await it.store.payment(at: provider, effect: refund.effect.key)
            try require(found, is: work.payment.id, "the payment of the refund")
        },
        ContractCase("a key that is not ours, or another provider's, finds nothing") { it in
            let work = try await it.settle(Scenario.Order("k1"))
            let leg = work.payment.legs[0]
            let elsewhere = try await it.store.payment(at: ProviderName("wallet"), effect: leg.primary.key)
            try require(elsewhere, is: nil, "the payment at another provider")
            let foreign = try await it.store.payment(at: leg.provider, effect: EffectKey(reported: "foreign"))
            try require(foreign, is: nil, "the payment of a foreign key")
        },
    ]
}
