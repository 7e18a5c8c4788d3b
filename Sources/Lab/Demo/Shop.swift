/// What the caller of the demo remembers of one payment.
struct CallerMemory: Sendable, Equatable {
    /// The id, once the daemon told it.
    var id: String?
    /// Whether the daemon promised to settle it: any 2xx.
    var isAcknowledged = false
    /// The final state in which the daemon said that it ended.
    var settledAs: String?
    /// The request that was never answered, and what came of its last try.
    var openRequest: String?
    /// Whether everything that the customer wanted was asked and answered.
    var isFinished = false
}

/// The caller's memory of all payments. It survives the daemon, like a shop's own database would.
actor Shop {
    private(set) var memories: [String: CallerMemory] = [:]
    private(set) var finished = 0
    private(set) var visited = 0

    func acknowledged(_ reference: String, id: String) {
        memories[reference, default: CallerMemory()].id = id
        memories[reference, default: CallerMemory()].isAcknowledged = true
    }

    func settled(_ reference: String, as state: String) {
        memories[reference, default: CallerMemory()].settledAs = state
    }

    func asked(_ reference: String, _ reply: CallerClient.Reply) {
        var open: String?
        if case .open(_, let last) = reply { open = last }
        memories[reference, default: CallerMemory()].openRequest = open
    }

    func left(_ reference: String, isFinished: Bool) {
        let wasFinished = memories[reference]?.isFinished ?? false
        memories[reference, default: CallerMemory()].isFinished = isFinished
        if isFinished, !wasFinished { finished += 1 }
        visited += 1
    }
}

/// One customer's way through a payment, step by step. Walked again it asks for the same under the same keys,
/// so that nothing happens twice.
struct Visit: Sendable {
    let plan: PlannedPayment
    let client: CallerClient
    let shop: Shop

    private struct LegBody: Encodable, Sendable {
        let provider: String
        let instrument: String
        let amount: DemoAmount
    }

    private struct CreateBody: Encodable, Sendable {
        let amount: DemoAmount
        let legs: [LegBody]
        let capture: String
        let reference: String
    }

    private struct LegAmountBody: Encodable, Sendable {
        let index: Int
        let amount: DemoAmount
    }

    private struct AmountsBody: Encodable, Sendable {
        var legs: [LegAmountBody]?
    }

    private struct ReasonBody: Encodable, Sendable {
        let reason: String
    }

    func walk() async throws {
        let isFinished = try await steps()
        await shop.left(plan.reference, isFinished: isFinished)
    }

    /// `true` when nothing is left to ask.
    private func steps() async throws -> Bool {
        if plan.course == .cancelAtOnce { return try await cancelWhileCreating() }
        let created = try await create()
        guard case .settled(let payment) = created else { return created.isOver }
        await shop.settled(plan.reference, finalState: payment.state)
        switch (plan.course, payment.state) {
        case (.captureAll, "authorized"): return try await capture(payment.id, nil)
        case (.capturePart, "authorized"): return try await capture(payment.id, [0: plan.firstPart])
        case (.cancelHeld, "authorized"): return try await cancel(payment.id)
        case (.refundAll, "succeeded"): return try await refund(payment.id, nil, step: 1)
        case (.refundOneLeg, "succeeded"):
            guard let last = plan.legs.indices.last else { return true }
            return try await refund(payment.id, [last: plan.legs[last].value], step: 1)
        case (.refundTwice, "succeeded"):
            guard try await refund(payment.id, [0: plan.firstPart], step: 1) else { return false }
            return try await refund(payment.id, nil, step: 2)
        default: return true
        }
    }

    /// The customer leaves while the creation is under way.
    private func cancelWhileCreating() async throws -> Bool {
        let created = try await create(isInHurry: true)
        guard let id = created.id else { return created.isOver }
        return try await cancel(id)
    }

    private func create(isInHurry: Bool = false) async throws -> CallerClient.Reply {
        let reply = try await client.ask(
            "/v1/payments", key: "\(plan.reference)/create", body: creation, isInHurry: isInHurry
        ) { [shop, plan] id in
            await shop.acknowledged(plan.reference, id: id)
        }
        await shop.asked(plan.reference, reply)
        return reply
    }

    private func capture(_ id: String, _ amounts: [Int: Int64]?) async throws -> Bool {
        try await operate("/v1/payments/\(id)/capture", "capture", body(amounts))
    }

    private func cancel(_ id: String) async throws -> Bool {
        try await operate("/v1/payments/\(id)/cancel", "cancel", ReasonBody(reason: "The customer left."))
    }

    private func operate(
        _ path: String, _ name: String, _ body: some Encodable & Sendable
    ) async throws -> Bool {
        let reply = try await client.ask(path, key: "\(plan.reference)/\(name)", body: body)
        await shop.asked(plan.reference, reply)
        if case .settled(let payment) = reply { await shop.settled(plan.reference, finalState: payment.state) }
        return reply.isOver
    }

    private func refund(_ id: String, _ amounts: [Int: Int64]?, step: Int) async throws -> Bool {
        let reply = try await client.ask(
            "/v1/payments/\(id)/refunds", key: "\(plan.reference)/refund-\(step)", body: body(amounts))
        await shop.asked(plan.reference, reply)
        return reply.isOver
    }

    private func body(_ amounts: [Int: Int64]?) -> AmountsBody {
        AmountsBody(
            legs: amounts.map { amounts in
                amounts.sorted { $0.key < $1.key }.map { LegAmountBody(index: $0.key, amount: DemoAmount($0.value)) }
            })
    }

    private var creation: CreateBody {
        CreateBody(
            amount: DemoAmount(plan.total),
            legs: plan.legs.map { leg in
                LegBody(
                    provider: leg.provider.rawValue, instrument: leg.instrument, amount: DemoAmount(leg.value))
            },
            capture: plan.course.isManual ? "manual" : "automatic", reference: plan.reference)
    }
}

extension Shop {
    fileprivate func settled(_ reference: String, finalState state: String) {
        if ["succeeded", "canceled", "failed"].contains(state) { settled(reference, as: state) }
    }
}

extension CallerClient.Reply {
    /// Whether asking again would bring nothing new.
    var isOver: Bool {
        if case .open = self { return false }
        return true
    }
}
