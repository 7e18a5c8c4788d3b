/// What is only read.
extension StripeStep {
    func list() throws -> StripeAnswer {
        let limit = min(max(call.parameters["limit"].flatMap { Int($0) } ?? 10, 1), 100)
        switch call.kind {
        case .charges: return try charges(limit)
        case .refunds:
            guard let shapes = try viewed() else { return .missing("charge") }
            let all = shapes.refunds
            let start = call.parameters["starting_after"].flatMap { id in all.firstIndex { $0.id == id } }
            let rest = all.dropFirst(start.map { $0 + 1 } ?? 0)
            return StripeAnswer(
                200, StripeShapes.list(rest.prefix(limit).map(\.value), hasMore: rest.count > limit))
        default:
            guard let shapes = try viewed() else { return .missing("charge") }
            return StripeAnswer(200, StripeShapes.list(shapes.disputes, hasMore: false))
        }
    }

    private func charges(_ limit: Int) throws -> StripeAnswer {
        var intents: [StripeIntent]
        if let id = call.parameters["payment_intent"] {
            intents = try tables.intent(id).map { [$0] } ?? []
        } else {
            let last = call.parameters["starting_after"].map { StripeIntent.id(ofCharge: $0) }
            intents = try tables.intents(
                group: call.parameters["transfer_group"], before: last, limit: limit == 100 ? 400 : limit + 1)
        }
        var values: [StripeValue] = []
        for intent in intents {
            let shapes = StripeShapes(record: try view(intent), intent: intent)
            values += shapes.chargeValues(
                withIntent: call.expands("data.payment_intent"), withRefunds: call.expands("data.refunds"))
        }
        return StripeAnswer(200, StripeShapes.list(Array(values.prefix(limit)), hasMore: values.count > limit))
    }

    private func viewed() throws -> StripeShapes? {
        let id =
            call.parameters["payment_intent"] ?? call.parameters["charge"].map { StripeIntent.id(ofCharge: $0) } ?? ""
        guard let intent = try tables.intent(id) else { return nil }
        return StripeShapes(record: try view(intent), intent: intent)
    }

    /// The transaction as this read sees it: a stale one shows the state before the last change.
    private func view(_ intent: StripeIntent) throws -> TransactionRecord? {
        guard let found = try stored(intent) else { return nil }
        return try step.viewed(found, fault, table, now: rules.now)
    }
}
