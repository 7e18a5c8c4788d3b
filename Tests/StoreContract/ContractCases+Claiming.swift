internal import PaymentCore
internal import Reconciler

extension ContractCase {
    static let claiming: [ContractCase] = [
        ContractCase("what is due is claimed, the longest overdue first, however long ago") { it in
            for key in ["k1", "k2", "k3"] {
                try await it.createFree(Scenario.Order(key))
                it.clock.advance(by: .days(700))
            }
            let claimed = try await it.store.claimDue(request(10))
            try require(claimed.map(\.payment.key.text), is: ["k1", "k2", "k3"], "the order")
            try require(claimed.map(\.token), is: Array(repeating: LeaseToken(2), count: 3), "the tokens")
            try require(Set(claimed.map(\.until)), is: [it.clock.now() + .seconds(30)], "the ends")
            for one in claimed {
                try require(one.payment, is: try await it.stored(one.payment.id), "the claimed payment")
            }
        },
        ContractCase("what is leased, not due yet or final is not claimed") { it in
            try await it.create(Scenario.Order("leased"))
            try await it.settle(Scenario.Order("final"))
            var manual = Scenario.Order("resting")
            manual.capture = .manual
            let resting = try await it.settle(manual)
            try await it.store.release(resting.payment.id, token: resting.token)
            try require(try await it.store.claimDue(request(10)).count, is: 0, "the number of claims")
            it.clock.advance(by: .days(8))
            let claimed = try await it.store.claimDue(request(10)).map(\.payment.key.text)
            try require(claimed, is: ["leased", "resting"], "what is due when leases and hold ran out")
        },
        ContractCase("what waits for a provider is claimed in order, each payment once, and nothing else") { it in
            var works: [Work] = []
            for (number, provider) in ["cards", "cards", "wallet", "cards", "cards"].enumerated() {
                var order = Scenario.Order("k\(number)")
                order.legs = [(provider, 100)]
                works.append(try await it.createInDoubt(order))
                it.clock.advance(by: .milliseconds(100))
            }
            // One of them is leased.
            let leased = try await it.store.claim(works[1].payment.id, holder: "other", leaseFor: .minutes(1))
            _ = try require(leased, "a lease")
            try require(try await it.store.claimDue(request(10)).count, is: 0, "what is due")
            var waiting = WaitingRequest(
                provider: try ProviderName("cards"), holder: "w", limit: 2, leaseFor: .seconds(30))
            let first = try await it.store.claimWaiting(waiting)
            try require(first.map(\.payment.key.text), is: ["k0", "k3"], "the first two that will be due")
            for claimed in first { try await it.store.release(claimed.payment.id, token: claimed.token) }
            let last = try require(first.last, "the last of them")
            waiting.after = WaitingRequest.Cursor(
                dueAt: try require(last.payment.dueAt, "a due time"), id: last.payment.id)
            let second = try await it.store.claimWaiting(waiting)
            try require(second.map(\.payment.key.text), is: ["k4"], "the rest")
            try require(try await it.store.claimWaiting(waiting).count, is: 0, "what is left")
        },
        ContractCase("no more is claimed than asked") { it in
            for number in 0..<5 { try await it.createFree(Scenario.Order("k\(number)")) }
            try require(try await it.store.claimDue(request(0)).count, is: 0, "the number for a limit of 0")
            try require(try await it.store.claimDue(request(2)).count, is: 2, "the first number")
            try require(try await it.store.claimDue(request(9)).count, is: 3, "the second number")
        },
        ContractCase("a slow provider does not take every place") { it in
            for (number, provider) in ["cards", "cards", "cards", "wallet", "cards", "points"].enumerated() {
                var order = Scenario.Order("k\(number)")
                order.legs = [(provider, 100)]
                try await it.createFree(order)
                it.clock.advance(by: .seconds(1))
            }
            var limited = request(4)
            limited.limitPerProvider = [try ProviderName("cards"): 2, try ProviderName("wallet"): 5]
            let claimed = try await it.store.claimDue(limited).map(\.payment.key.text)
            try require(claimed, is: ["k0", "k1", "k3", "k5"], "what is claimed")
            limited.limitPerProvider = [try ProviderName("cards"): 0]
            try require(try await it.store.claimDue(limited).count, is: 0, "the number with a limit of 0")
            try require(try await it.store.claimDue(request(9)).count, is: 2, "what was left")
        },
        ContractCase("limits of providers do not touch what is due at none") { it in
            var order = Scenario.Order("k1")
            order.capture = .manual
            let work = try await it.settle(order)
            try await it.store.release(work.payment.id, token: work.token)
            try require(work.payment.dueProvider, is: nil, "the provider of a hold that runs out")
            it.clock.advance(by: .days(30))
            var limited = request(4)
            limited.limitPerProvider = [try ProviderName("cards"): 0]
            try require(try await it.store.claimDue(limited).count, is: 1, "the number of claims")
        },
        ContractCase("limits of providers hold for leases that ran out, too") { it in
            for number in 0..<3 { try await it.create(Scenario.Order("k\(number)")) }
            it.clock.advance(by: .minutes(2))
            var limited = request(9)
            limited.limitPerProvider = [try ProviderName("cards"): 2]
            try require(try await it.store.claimDue(limited).count, is: 2, "the number of claims")
        },
        ContractCase("what is due at another provider is left to others for a while") { it in
            let start = it.clock.now()
            let order = Scenario.Order("k1")
            let leased = try await it.create(order)
            var elsewhere = request(9)
            elsewhere.limitPerProvider = [try ProviderName("elsewhere"): 9]
            elsewhere.othersAfter = .minutes(5)
            let next = try await it.store.nextDue(in: elsewhere.scope)
            try require(next, is: start + .minutes(5), "the moment for a daemon without the provider")
            // Its lease runs out after a minute.
            it.clock.advance(by: .minutes(4))
            try require(try await it.store.claimDue(elsewhere).count, is: 0, "early claims of what was abandoned")
            try await it.store.release(leased.payment.id, token: leased.token)
            try require(try await it.store.claimDue(elsewhere).count, is: 0, "early claims")
            it.clock.advance(by: .minutes(1))
            try require(try await it.store.claimDue(elsewhere).count, is: 1, "claims of what nobody took")
        },
        ContractCase("a daemon that has the provider waits for nobody") { it in
            let start = it.clock.now()
            try await it.createFree(Scenario.Order("k1"))
            var here = request(9)
            here.limitPerProvider = [try ProviderName("cards"): 9]
            here.othersAfter = .minutes(5)
            try require(try await it.store.nextDue(in: here.scope), is: start, "the moment")
            try require(try await it.store.claimDue(here).count, is: 1, "the number of claims")
        },
        ContractCase("the next due moment is the earliest, for what is leased the end of its lease") { it in
            try require(try await it.store.nextDue(in: .everywhere), is: nil, "the moment of an empty store")
            let start = it.clock.now()
            let leased = try await it.create(Scenario.Order("k1"))
            try require(try await it.store.nextDue(in: .everywhere), is: start + .minutes(1), "the moment while leased")
            try await it.store.release(leased.payment.id, token: leased.token)
            try require(try await it.store.nextDue(in: .everywhere), is: start, "the moment of what is due")
            it.clock.advance(by: .seconds(5))
            try await it.createFree(Scenario.Order("k2"))
            try require(try await it.store.nextDue(in: .everywhere), is: start, "the moment of the earliest")
            _ = try await it.store.claimDue(request(1))
            try require(try await it.store.nextDue(in: .everywhere), is: start + .seconds(5), "the moment of the other")
        },
        ContractCase("what is never due again has no next moment") { it in
            try await it.settle(Scenario.Order("k1"))
            try require(try await it.store.nextDue(in: .everywhere), is: nil, "the moment")
        },
    ]

    static func request(_ limit: Int, holder: String = "claimer") -> ClaimRequest {
        ClaimRequest(holder: holder, limit: limit, leaseFor: .seconds(30))
    }
}
