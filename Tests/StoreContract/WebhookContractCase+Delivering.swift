internal import PaymentCore
internal import Reconciler

extension WebhookContractCase {
    static let delivering: [WebhookContractCase] = [
        WebhookContractCase("what is due is claimed once, the longest overdue first, and of one caller alone") { it in
            let first = try await it.succeeded("a")
            let other = try await it.succeeded("k", of: "kiosk")
            let second = try await it.succeeded("b")
            let third = try await it.succeeded("c")
            try require(try await it.claim(2).map(\.webhook.payment), is: [first.id, second.id], "the first two")
            try require(try await it.claim().map(\.webhook.payment), is: [third.id], "the rest")
            try require(try await it.claim().count, is: 0, "what is left")
            let kiosk = try CallerID("kiosk")
            try require(try await it.claim(of: kiosk).map(\.webhook.payment), is: [other.id], "the other caller's")
        },
        WebhookContractCase("what is accepted is not due any more") { it in
            let payment = try await it.succeeded("a")
            let claimed = try await it.claimOne()
            it.clock.advance(by: .seconds(3))
            try require(try await it.store.settleWebhook(WebhookSettlement(of: claimed, .accepted)), is: true)
            let webhook = try await it.webhook(payment)
            try require(webhook.state, is: .delivered)
            try require(webhook.deliveredAt, is: it.clock.now())
            it.clock.advance(by: .hours(1))
            try require(try await it.claim().count, is: 0, "claimed after it was accepted")
            try require(try await it.store.nextWebhooks(of: [it.shop]), is: [:], "the next")
        },
        WebhookContractCase("what was not accepted is due after its pause, and not before") { it in
            let payment = try await it.succeeded("a")
            let claimed = try await it.claimOne()
            let again = WebhookSettlement(of: claimed, .again(after: .minutes(5), failure: "http_503"))
            try require(try await it.store.settleWebhook(again), is: true)
            let webhook = try await it.webhook(payment)
            try require(webhook.attempts, is: 1)
            try require(webhook.failure, is: "http_503")
            try require(webhook.dueAt, is: it.clock.now() + .minutes(5))
            try require(try await it.store.nextWebhooks(of: [it.shop]), is: [it.shop: it.clock.now() + .minutes(5)])
            it.clock.advance(by: .minutes(5) + (Span.zero - .milliseconds(1)))
            try require(try await it.claim().count, is: 0, "claimed too early")
            it.clock.advance(by: .milliseconds(1))
            try require(try await it.claim().map(\.webhook.attempts), is: [1], "claimed in time")
        },
        WebhookContractCase("who let the lease run out settles nothing, and the next one delivers it") { it in
            let payment = try await it.succeeded("a")
            let late = try await it.claimOne()
            try require(try await it.claim().count, is: 0, "claimed while it is leased")
            it.clock.advance(by: .minutes(1))
            let current = try await it.claimOne()
            try require(current.token > late.token, "the token did not rise")
            try require(try await it.store.settleWebhook(WebhookSettlement(of: late, .accepted)), is: false, "the late")
            try require(try await it.webhook(payment).state, is: .waiting)
            try require(try await it.store.settleWebhook(WebhookSettlement(of: current, .accepted)), is: true)
            let twice = try await it.store.settleWebhook(WebhookSettlement(of: current, .givenUp(failure: "http_410")))
            try require(twice, is: false, "a second settlement")
            try require(try await it.webhook(payment).state, is: .delivered)
        },
        WebhookContractCase("a report that is raised during a delivery follows it, and never beside it") { it in
            var order = Scenario.Order("a")
            order.capture = .manual
            for outcome in [.accepted, .again(after: .hours(5), failure: "no"), .givenUp(failure: "no")]
                as [WebhookSettlement.Outcome]
            {
                order.key += "x"
                var work = try await it.scenario.settle(order)
                let claimed = try await it.claimOne()
                try await it.capture(&work)
                try require(try await it.claim().count, is: 0, "claimed beside the one before")
                try require(try await it.store.settleWebhook(WebhookSettlement(of: claimed, outcome)), is: true)
                let webhook = try await it.webhook(work.payment)
                try require(webhook.state, is: .waiting)
                try require(webhook.attempts, is: 0)
                let next = try await it.claimOne()
                try require(next.webhook.raised, is: 2)
                try require(try await it.store.settleWebhook(WebhookSettlement(of: next, .accepted)), is: true)
                try require(try await it.webhook(work.payment).state, is: .delivered)
            }
        },
        WebhookContractCase("what is postponed waits without an attempt, and the payment's next state is due at once") {
            it in
            var order = Scenario.Order("a")
            order.capture = .manual
            var work = try await it.scenario.settle(order)
            let claimed = try await it.claimOne()
            let postponed = WebhookSettlement(of: claimed, .postponed(by: .hours(1)))
            try require(try await it.store.settleWebhook(postponed), is: true)
            let webhook = try await it.webhook(work.payment)
            try require(webhook.dueAt, is: it.clock.now() + .hours(1))
            try require(webhook.attempts, is: 0)
            try require(webhook.failure == nil, "there is a failure")
            try await it.capture(&work)
            try require(try await it.claim().map(\.webhook.raised), is: [2], "the next state")
        },
        WebhookContractCase("what was given up of a caller is started again, and nothing else") { it in
            var payments: [PaymentID] = []
            for index in 0..<5 { payments.append(try await it.succeeded("p\(index)").id) }
            let claimed = try await it.claim(5)
            for one in claimed.prefix(3) {
                _ = try await it.store.settleWebhook(WebhookSettlement(of: one, .givenUp(failure: "http_410")))
            }
            _ = try await it.store.settleWebhook(WebhookSettlement(of: claimed[3], .accepted))
            let later = WebhookSettlement(of: claimed[4], .again(after: .hours(1), failure: "http_500"))
            _ = try await it.store.settleWebhook(later)
            try require(try await it.store.redeliverWebhooks(of: it.shop), is: 3, "how many")
            try require(try await it.store.redeliverWebhooks(of: it.shop), is: 0, "how many are left")
            try require(Set(try await it.claim().map(\.webhook.payment)), is: Set(payments[..<3]), "what is due")
        },
        WebhookContractCase("what was given up stays so, until somebody or the next state starts it again") { it in
            var work = try await it.deliveredHold("a")
            try await it.capture(&work)
            let claimed = try await it.claimOne()
            let given = WebhookSettlement(of: claimed, .givenUp(failure: "http_410"))
            try require(try await it.store.settleWebhook(given), is: true)
            try require(try await it.webhook(work.payment).state, is: .givenUp)
            try require(try await it.webhook(work.payment).failure, is: "http_410")
            try require(try await it.webhook(work.payment).attempts, is: 1, "the last attempt counts too")
            it.clock.advance(by: .days(30))
            try require(try await it.claim().count, is: 0, "claimed after it was given up")
            try require(try await it.store.redeliverWebhooks(of: try CallerID("kiosk")), is: 0, "another caller's")
            try require(try await it.store.redeliverWebhooks(of: it.shop), is: 1, "how many")
            try require(try await it.webhook(work.payment).dueAt, is: it.clock.now())
            let again = try await it.claimOne()
            try require(again.webhook.attempts, is: 0)
            try require(try await it.store.settleWebhook(WebhookSettlement(of: again, .accepted)), is: true)
        },
        WebhookContractCase("what was delivered is delivered again where somebody asks for it") { it in
            let work = try await it.deliveredHold("a")
            it.clock.advance(by: .hours(1))
            let asked = try require(try await it.store.redeliverWebhook(of: work.payment.id), "the webhook")
            try require(asked.state, is: .waiting)
            try require(try await it.webhook(work.payment), is: asked)
            try require(try await it.claim().map(\.webhook.payment), is: [work.payment.id])
            let unknown = try PaymentID(caller: it.shop, key: IdempotencyKey("nothing"))
            try require(try await it.store.redeliverWebhook(of: unknown) == nil, "a webhook of nothing")
        },
    ]
}
