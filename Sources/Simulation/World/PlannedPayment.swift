public import PaymentCore

/// A payment of a plan, and everything that its caller will ask for.
public struct PlannedPayment: Sendable {
    /// One thing that the caller will ask for.
    public struct Ask: Sendable, Hashable {
        /// What.
        public let operation: CallerOperation
        /// What tells its body apart from others under the same key.
        public let fingerprint: Digest
        /// What has to be before it is asked.
        public let after: Condition
        /// How long after that.
        public let delay: Span
        /// How long the caller wants to wait for the answer.
        public let wait: Span
    }

    /// What has to be before something is asked.
    public enum Condition: Sendable, Hashable {
        /// The beginning of the run.
        case start
        /// The create was asked for, answered or not.
        case created
        /// The create was answered, with whatever.
        case answered
        /// The caller saw that everything is held.
        case held
        /// The caller saw that it succeeded.
        case succeeded
    }

    /// The payment's identifier.
    public let id: PaymentID
    /// The validated request; the second body, if the caller ever uses its key for another one.
    public let requests: [CreateRequest]
    /// What its caller asks for, in order; the first is the create.
    public let asks: [Ask]

    static func drawn(
        _ chance: Chance, count: Int, bursts: [Span], providers: [RunPlan.Provider], mayMislead: Bool
    ) -> [PlannedPayment] {
        (0..<count).compactMap { index in
            var drawing = PaymentDrawing(chance: chance, index: index, providers: providers)
            return drawing.payment(bursts: bursts, mayMislead: mayMislead)
        }
    }
}

/// Draws one payment.
private struct PaymentDrawing {
    let chance: Chance
    let index: Int
    let providers: [RunPlan.Provider]

    private func draw(_ what: String, below bound: Int) -> Int { chance.draw(what, index, below: bound) }

    mutating func payment(bursts: [Span], mayMislead: Bool) -> PlannedPayment? {
        do {
            // Pairs of callers use the same key: it is theirs alone all the same.
            let caller = try CallerID(["shop", "market"][index % 2])
            let key = try IdempotencyKey("order-\(chance.bits(79) % 1_000_000)-\(index / 2)")
            let isManual = draw("manual", below: 3) == 0
            let legs = try drawnLegs(allowsOnePhase: !isManual)
            guard let currency = legs.first?.amount.currency else { return nil }
            let contracts = Dictionary(
                providers.map { ($0.name, $0.contract) }, uniquingKeysWith: { first, _ in first })
            let request = try CreateRequest(
                caller: caller, key: key, amount: try Money.sum(legs.map(\.amount), in: currency), legs: legs,
                captureMode: isManual ? .manual : .automatic,
                returnURL: draw("payer", below: 2) == 0 ? WebAddress("https://shop.example/back") : nil,
                contracts: contracts)
            let first = legs.prefix(1)
            let other = try CreateRequest(
                caller: caller, key: key, amount: try Money.sum(first.map(\.amount), in: currency),
                legs: Array(first), captureMode: .automatic, reference: "another", contracts: contracts)
            let id = PaymentID(caller: caller, key: key)
            let asks = try drawnAsks(id, caller, key, legs, bursts, isManual, mayMislead)
            return PlannedPayment(id: id, requests: [request, other], asks: asks)
        } catch {
            return nil
        }
    }

    private func drawnLegs(allowsOnePhase: Bool) throws -> [CreateRequest.Leg] {
        guard let currency = Currency(code: draw("currency", below: 4) == 0 ? "USD" : "JPY") else { return [] }
        let wanted = [1, 1, 1, 2, 2, 3][draw("legs", below: 6)]
        var legs: [CreateRequest.Leg] = []
        var hasSale = !allowsOnePhase
        for leg in 0..<wanted {
            let provider = providers[draw("leg-\(leg)", below: providers.count)]
            if provider.contract.phases == .sale {
                guard !hasSale else { continue }
                hasSale = true
            }
            legs.append(
                CreateRequest.Leg(
                    provider: provider.name, instrument: try Instrument(token: "tok_\(index)_\(leg)_secret"),
                    amount: try Money(Int64(100 + draw("amount-\(leg)", below: 9_900)), currency)))
        }
        if legs.isEmpty, let provider = providers.first(where: { $0.contract.phases == .authorizeCapture }) {
            legs.append(
                CreateRequest.Leg(
                    provider: provider.name, instrument: try Instrument(token: "tok_\(index)_0_secret"),
                    amount: try Money(Int64(100 + draw("amount-0", below: 9_900)), currency)))
        }
        return legs
    }

    private func drawnAsks(
        _ id: PaymentID, _ caller: CallerID, _ key: IdempotencyKey, _ legs: [CreateRequest.Leg],
        _ bursts: [Span], _ isManual: Bool, _ mayMislead: Bool
    ) throws -> [PlannedPayment.Ask] {
        var asks: [PlannedPayment.Ask] = []
        func ask(
            _ key: IdempotencyKey, _ kind: CallerOperation.Kind, _ word: String, after: PlannedPayment.Condition,
            _ delay: Span
        ) {
            let waits: [Span] = [.zero, .seconds(2), .seconds(10)]
            asks.append(
                PlannedPayment.Ask(
                    operation: CallerOperation(caller: caller, key: key, payment: id, kind: kind),
                    fingerprint: Digest(of: ["simulated", id.text, key.text, word]), after: after, delay: delay,
                    wait: waits[draw("wait-\(asks.count)", below: waits.count)]))
        }
        let burst = bursts[draw("arrives", below: bursts.count)]
        let spread = draw("spread", below: 4) == 0 ? 600_000 : 15_000
        ask(key, .create(body: 0), "create", after: .start, burst + .milliseconds(Int64(draw("place", below: spread))))
        if mayMislead, draw("misleads", below: 12) == 0 {
            ask(key, .create(body: 1), "create another", after: .answered, delay("misleads-after"))
        }
        // Some callers never come back for what they hold.
        if isManual, draw("leaves", below: 8) > 0 {
            let amounts = draw("partial", below: 3) == 0 ? part(legs, "capture", atLeast: 0) : nil
            let own = try IdempotencyKey("\(key.text)-capture")
            ask(own, .capture(amounts: amounts), "capture \(amounts ?? [])", after: .held, delay("captures"))
        }
        for refund in 0..<[0, 0, 1, 1, 2, 2][draw("refunds", below: 6)] {
            // Two equal refunds are two refunds, if they have two keys.
            let amounts = draw("all", below: 4) == 0 ? nil : part(legs, "refund", atLeast: 1)
            let own = try IdempotencyKey("\(key.text)-refund-\(refund)")
            ask(
                own, .refund(amounts: amounts), "refund \(amounts ?? [])", after: .succeeded,
                delay("refunds-\(draw("together", below: 2) == 0 ? 0 : refund)"))
        }
        return asks
    }

    private func part(_ legs: [CreateRequest.Leg], _ what: String, atLeast least: Int) -> [Int] {
        var amounts = legs.indices.map { leg in
            max(least, Int(legs[leg].amount.value) * draw("\(what)-\(leg)", below: 5) / 10)
        }
        if amounts.allSatisfy({ $0 == 0 }) { amounts[0] = 1 }
        return amounts
    }

    private func delay(_ what: String) -> Span {
        let lengths: [Int] = [2_000, 20_000, 20_000, 600_000, 7_200_000]
        return Span(milliseconds: Int64(100 + draw(what, below: lengths[draw("\(what) about", below: lengths.count)])))
    }
}
