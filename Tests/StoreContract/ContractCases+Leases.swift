internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let leases: [ContractCase] = [
        ContractCase("one payment is claimed by its id, due or not") { it in
            let work = try await it.settle(Scenario.Order("k1"))
            let id = work.payment.id
            try require(work.payment.dueAt, is: nil, "the due time")
            let other = try await it.store.claim(id, holder: "other", leaseFor: .minutes(1))
            try require(other == nil, "the running lease of another holder keeps it")
            try await it.store.release(id, token: work.token)
            let claimed = try require(
                try await it.store.claim(id, holder: "other", leaseFor: .minutes(3)), "the claim")
            try require(claimed.token, is: LeaseToken(2), "the token")
            try require(claimed.until, is: it.clock.now() + .minutes(3), "the end")
            try require(claimed.payment, is: work.payment, "the payment")
        },
        ContractCase("a payment that is not there cannot be claimed") { it in
            let id = try it.draft(Scenario.Order("k1")).work.payment.id
            let claimed = try await it.store.claim(id, holder: "w", leaseFor: .minutes(1))
            try require(claimed == nil, "there is no claim")
        },
        ContractCase("a holder that claims again has a new token, and the old one is void") { it in
            let work = try await it.create(Scenario.Order("k1"), holder: "w")
            let again = try require(
                try await it.store.claim(work.payment.id, holder: "w", leaseFor: .minutes(1)), "the second claim")
            try require(again.token, is: LeaseToken(2), "the token")
            let held = try await it.store.renew([work.payment.id: work.token], leaseFor: .minutes(1))
            try require(held, is: [], "what is held under the old token")
        },
        ContractCase("a lease that ran out can be taken over at that moment") { it in
            let work = try await it.create(Scenario.Order("k1"))
            it.clock.advance(by: .minutes(1) - .milliseconds(1))
            let early = try await it.store.claim(work.payment.id, holder: "other", leaseFor: .minutes(1))
            try require(early == nil, "a millisecond earlier it runs")
            it.clock.advance(by: .milliseconds(1))
            let claimed = try await it.store.claim(work.payment.id, holder: "other", leaseFor: .minutes(1))
            try require(claimed != nil, "it has run out")
        },
        ContractCase("renewing prolongs what is held, and says what is") { it in
            let first = try await it.create(Scenario.Order("k1"))
            let second = try await it.create(Scenario.Order("k2"))
            let third = try await it.create(Scenario.Order("k3"))
            let unknown = try it.draft(Scenario.Order("k4")).work.payment.id
            try await it.store.release(second.payment.id, token: second.token)
            let leases = [
                first.payment.id: first.token, second.payment.id: second.token, unknown: LeaseToken(1),
                third.payment.id: LeaseToken(9),
            ]
            it.clock.advance(by: .seconds(50))
            let held = try await it.store.renew(leases, leaseFor: .minutes(1))
            try require(held, is: [first.payment.id], "what is held")
            it.clock.advance(by: .seconds(50))
            let claimed = try await it.store.claimDue(request(9)).map(\.payment.key.text).sorted()
            try require(claimed, is: ["k2", "k3"], "what can be claimed after the others' leases ended")
            try require(try await it.store.renew([:], leaseFor: .minutes(1)), is: [], "what is held of nothing")
        },
        ContractCase("a lease that is not held any more is left alone by a release") { it in
            let work = try await it.create(Scenario.Order("k1"))
            let id = work.payment.id
            it.clock.advance(by: .minutes(2))
            let taken = try await it.store.claim(id, holder: "other", leaseFor: .minutes(1))
            let second = try require(taken, "the second claim")
            try await it.store.release(id, token: work.token)
            let third = try await it.store.claim(id, holder: "third", leaseFor: .minutes(1))
            try require(third == nil, "the second holder's lease still runs")
            try await it.store.release(id, token: second.token)
            try await it.store.release(id, token: second.token)
            let fourth = try await it.store.claim(id, holder: "third", leaseFor: .minutes(1))
            try require(fourth?.token, is: LeaseToken(3), "the token after the release")
        },
        ContractCase("a clock that is set back does not revive a lease") { it in
            let work = try await it.create(Scenario.Order("k1"))
            it.clock.advance(by: .minutes(1))
            let seen = try await it.store.now()
            it.clock.advance(by: Span(milliseconds: -600_000))
            try require(try await it.store.now() >= seen, "the store's time does not go backward")
            let claimed = try await it.store.claim(work.payment.id, holder: "other", leaseFor: .minutes(1))
            try require(claimed != nil, "the lease has run out")
        },
    ]
}
