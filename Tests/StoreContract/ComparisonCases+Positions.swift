internal import PaymentCore
internal import Reconciler

extension ComparisonContractCase {
    static let positions: [ComparisonContractCase] = [
        ComparisonContractCase("a leg is found by its transaction's key, as its payment says it stands") { it in
            var order = Scenario.Order("k1")
            order.legs = [("cards", 1_200), ("wallet", 300)]
            let work = try await it.payments.create(order)
            let keys = work.payment.legs.map(\.primary.key)
            try await it.requireBooked(work.payment, at: "cards", keys[0])
            try await it.requireBooked(work.payment, at: "wallet", keys[1])
            let settled = try await it.payments.settle(Scenario.Order("k2")).payment
            try await it.requireBooked(settled, at: "cards", settled.legs[0].primary.key)
            try require(settled.bookedPositions.map(\.standing), is: [.taken], "where the settled leg stands")
            try require(settled.bookedPositions.map(\.work), is: [.none], "who is at work on it")
            let foreign = [PositionQuestion(key: keys[1]), PositionQuestion(key: EffectKey(reported: "other"))]
            let unknown = try await it.store.positions(at: Comparing.cards(), foreign)
            try require(unknown.map(\.ours), is: [nil, nil], "keys of another provider and of nobody")
            try require(unknown.map(\.key), is: foreign.map(\.key), "the order of the answers")
            try require(try await it.store.positions(at: Comparing.cards(), []), is: [], "the answer to nothing")
        },
        ComparisonContractCase("refunds are told with their keys, and everything after each commit") { it in
            var work = try await it.payments.settle(Scenario.Order("k1"))
            for (number, amount) in [200, 200, 800].enumerated() {
                it.clock.advance(by: .seconds(1))
                let command = RefundCommand(
                    key: try IdempotencyKey("r\(number)"), amounts: [0: try Money(Int64(amount), Comparing.yen())])
                try await it.refund(&work, command)
                try await it.requireBooked(work.payment, at: "cards", work.payment.legs[0].primary.key)
                let position = try require(work.payment.bookedPositions.first, "the position")
                try require(position.refunds.count, is: number + 1, "the number of refunds")
                try require(position.standing, is: number == 2 ? .givenBack : .taken, "where the leg stands")
            }
        },
        ComparisonContractCase("only the key of the authorization or sale finds a leg") { it in
            let payment = try await it.payments.settle(Scenario.Order("k1")).payment
            let capture = try require(payment.legs[0].capture?.key, "the capture's key")
            let known = try await it.store.positions(at: Comparing.cards(), [PositionQuestion(key: capture)])
            try require(known.map(\.ours), is: [nil], "what the capture's key finds")
        },
        ComparisonContractCase("a transaction under another key is traced to the leg that it names") { it in
            var order = Scenario.Order("k1")
            order.legs = [("wallet", 300), ("cards", 700), ("cards", 500)]
            let payment = try await it.payments.create(order).payment
            let id = payment.id
            let key = EffectKey(reported: "another")
            let missing = PaymentID(caller: payment.caller, key: try IdempotencyKey("never"))
            let expected: [(PositionQuestion, Int?)] = [
                (PositionQuestion(key: key, payment: id, leg: 2), 2),
                (PositionQuestion(key: key, payment: id), 1),
                (PositionQuestion(key: key, payment: id, leg: 0), nil),
                (PositionQuestion(key: key, payment: id, leg: 7), nil),
                (PositionQuestion(key: key, payment: missing, leg: 0), nil),
                (PositionQuestion(key: key), nil),
            ]
            let known = try await it.store.positions(at: Comparing.cards(), expected.map(\.0))
            try require(known.map { $0.named?.leg }, is: expected.map(\.1), "the legs that are named")
            try require(known.first?.named, is: payment.bookedPositions[2], "the leg that is named")
            try require(
                known.map(\.isPruned), is: known.map { _ in false }, "whether a payment that is there was pruned")
            let own = PositionQuestion(key: payment.legs[1].primary.key, payment: id, leg: 2)
            let both = try await it.store.positions(at: Comparing.cards(), [own])
            try require(both.map { $0.ours?.leg }, is: [1], "the leg whose key it is")
            try require(both.map { $0.named?.leg }, is: [nil], "nobody is named beside it")
        },
        ComparisonContractCase("legs whose payment changed in a window are read in order, page by page") { it in
            var orders: [Payment] = []
            for number in 0..<5 {
                var order = Scenario.Order("k\(number)")
                order.legs = [("cards", 100), ("wallet", 50), ("cards", 70)]
                orders.append(try await it.payments.create(order).payment)
                if number.isMultiple(of: 2) { it.clock.advance(by: .seconds(1)) }
            }
            let start = ManualClock.start
            let all = try await it.changed(in: start, start + .hours(1), limit: 3)
            let expected = orders.flatMap(\.bookedPositions).filter { $0.provider.name == "cards" }
                .sorted { BookedPlace($0) < BookedPlace($1) }
            try require(all.map(\.ours), is: expected, "the legs")
            let second = try await it.changed(in: start + .seconds(1), start + .seconds(2), limit: 100)
            let inSecond = expected.filter { $0.updatedAt == start + .seconds(1) }
            try require(second.map(\.ours), is: inSecond, "the beginning counts, the end does not")
            try require(inSecond.count, is: 4, "the number of legs in a second")
        },
        ComparisonContractCase("a payment that changes again is read where it changed last, with what is remembered") {
            it in
            var work = try await it.payments.create(Scenario.Order("k1"))
            let start = ManualClock.start
            it.clock.advance(by: .minutes(5))
            try await it.payments.save(&work, .inquireNow)
            try require(try await it.changed(in: start, start + .minutes(5), limit: 9), is: [], "where it was")
            let position = try require(work.payment.bookedPositions.first, "the position")
            var run = try await it.work()
            var row = try Comparing.row(position.key.text, .hidden, run: run.run)
            row.ours = position
            try await it.record(&run) { $0.positions = [row] }
            let found = try await it.changed(in: start + .minutes(5), start + .minutes(6), limit: 9)
            try require(found, is: [KnownPosition(key: position.key, ours: position, row: row)], "where it is")
        },
        ComparisonContractCase("what agrees and is unchanged since is counted, and anything else is told of") { it in
            var work = try await it.payments.settle(Scenario.Order("k1"))
            let refunded = RefundCommand(
                key: try IdempotencyKey("r1"), amounts: [0: try Money(200, Comparing.yen())])
            try await it.refund(&work, refunded)
            let start = ManualClock.start
            let position = try require(work.payment.bookedPositions.first, "the position")
            var run = try await it.work()
            let other = PaymentID(caller: work.payment.caller, key: try IdempotencyKey("never"))
            for variant in Unchanged.allCases {
                var row = try Comparing.row(position.key.text, .matched, run: run.run)
                row.ours = position
                variant.change(&row, other: other)
                try await it.record(&run) { $0.positions = [row] }
                let window = try require(ComparedWindow(from: start, to: start + .hours(1)), "a window")
                let page = try await it.store.changedPositions(
                    at: Comparing.cards(), in: window, after: nil, limit: 1)
                let known = KnownPosition(key: position.key, ours: position, row: row)
                try require(page, is: BookedPage([known], limit: 1), "the page: \(variant)")
                try require(page.unchanged, is: variant == .same ? 1 : 0, "those that are unchanged: \(variant)")
                try require(page.next, is: BookedPlace(position), "where the next page begins")
            }
            let end = try require(ComparedWindow(from: start, to: start + .hours(1)), "a window")
            let last = try await it.store.changedPositions(
                at: Comparing.cards(), in: end, after: BookedPlace(position), limit: 1)
            try require(last, is: BookedPage(positions: [], unchanged: 0, next: nil), "the page after the last")
        },
    ]
}

/// How what is remembered of a leg may differ from what the books say now.
private enum Unchanged: CaseIterable {
    case same, differs, named, payment, leg, amount, captured, refunds, standing, work, state, moment, asked, absent

    func change(_ row: inout ComparedPosition, other: PaymentID) {
        switch self {
        case .same: break
        case .differs: row.finding = .statusDiffers
        case .named: row.isNamed = true
        case .absent: row.ours = nil
        default: row.ours = row.ours.map { changed($0, other) }
        }
    }

    private func changed(_ ours: BookedPosition, _ other: PaymentID) -> BookedPosition {
        BookedPosition(
            payment: self == .payment ? other : ours.payment,
            leg: self == .leg ? ours.leg + 1 : ours.leg, provider: ours.provider, key: ours.key,
            amount: self == .amount ? ours.refunded : ours.amount,
            captured: self == .captured ? ours.refunded : ours.captured,
            refunds: self == .refunds ? [] : ours.refunds, standing: self == .standing ? .held : ours.standing,
            work: self == .work ? .people : ours.work, state: self == .state ? .failed : ours.state,
            updatedAt: self == .moment ? ours.updatedAt + .milliseconds(1) : ours.updatedAt,
            askedAt: self == .asked ? nil : ours.askedAt)
    }
}

/// A refund of a caller.
struct RefundCommand: Sendable {
    let key: IdempotencyKey
    let amounts: [Int: Money]
}

extension Comparing {
    func refund(_ work: inout Work, _ command: RefundCommand) async throws {
        let actions = try work.machine.refund(
            key: command.key, amounts: command.amounts, reason: nil, payments.context())
        try await payments.save(&work)
        try await payments.answer(&work, actions)
    }

    /// Requires the store to say of a leg what its payment says.
    func requireBooked(_ payment: Payment, at provider: String, _ key: EffectKey) async throws {
        let stored = try await payments.stored(payment.id)
        let expected = stored.bookedPositions.first { $0.key == key }
        let known = try await store.positions(at: ProviderName(provider), [PositionQuestion(key: key)])
        try require(known, is: [KnownPosition(key: key, ours: expected, row: nil)], "the leg")
        try require(expected != nil, "the payment has it")
    }

    /// The legs at cards that changed in a window, by pages.
    func changed(in from: Timestamp, _ to: Timestamp, limit: Int) async throws -> [KnownPosition] {
        let window = try require(ComparedWindow(from: from, to: to), "a window")
        var found: [KnownPosition] = []
        var cursor: BookedPlace?
        while true {
            let page = try await store.changedPositions(
                at: Comparing.cards(), in: window, after: cursor, limit: limit)
            try require(page.positions.count + page.unchanged <= limit, "a page is not longer than asked")
            found += page.positions
            cursor = page.next
            guard cursor != nil else { return found }
        }
    }
}
