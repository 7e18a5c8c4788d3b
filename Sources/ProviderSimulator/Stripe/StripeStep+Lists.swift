/// What is only read.
extension StripeStep {
    func one() throws -> StripeAnswer {
        guard let intent = try tables.intent(call.intent) else { return .missing("payment_intent", call.intent) }
        return StripeAnswer(200, try viewed(intent).intentValue(withCharge: call.expands("latest_charge")))
    }

    func list() throws -> StripeAnswer {
        if call.kind == .charges { return try charges() }
        let intent: StripeIntent
        if let id = call.parameters["payment_intent"] {
            guard let known = try tables.intent(id) else {
                return .missing("payment_intent", id, parameter: "payment_intent")
            }
            intent = known
        } else if let id = call.parameters["charge"] {
            guard let known = try tables.intent(ofCharge: id) else {
                return .missing("charge", id, parameter: "charge")
            }
            intent = known
        } else {
            return .invalid("parameter_missing", "Only those of one charge are simulated.", parameter: "charge")
        }
        let shapes = try viewed(intent)
        // What was declined before the newest charge has neither.
        let isOfOther = call.parameters["charge"].map { $0 != shapes.intent.charges.last?.id } ?? false
        guard !isOfOther else { return page([]) }
        return page(call.kind == .refunds ? shapes.refunds.map { ($0.id, $0.value) } : shapes.disputes)
    }

    /// All charges there are, page by page; those that this read does not see yet are passed over.
    private func charges() throws -> StripeAnswer {
        if let id = call.parameters["payment_intent"] {
            let intent = try tables.intent(id)
            let isOfGroup = call.parameters["transfer_group"].map { $0 == intent?.transferGroup } ?? true
            return page(try isOfGroup ? intent.map(shownCharges) ?? [] : [])
        }
        var row = Int64.max
        if let last = call.parameters["starting_after"] {
            guard let first = try tables.intent(ofCharge: last)?.row else { return noSuchPosition(last) }
            row = first
        }
        var found: [(id: String, value: JSONTree)] = []
        let enough = limit + 1
        while true {
            let intents = try tables.charged(
                group: call.parameters["transfer_group"], upTo: row, limit: enough)
            found += try intents.flatMap(shownCharges)
            guard intents.count == enough, let last = intents.last?.row else { break }
            if let rest = rest(of: found), rest.count >= enough { break }
            row = last - 1
        }
        return page(found)
    }

    private func shownCharges(of intent: StripeIntent) throws -> [(id: String, value: JSONTree)] {
        let asked = Set(intent.charges.filter { created.contains($0.created) }.map(\.id))
        guard !asked.isEmpty else { return [] }
        return try charges(of: intent, "data.").filter { asked.contains($0.id) }
    }

    private func charges(of intent: StripeIntent, _ prefix: String) throws -> [(id: String, value: JSONTree)] {
        try viewed(intent).charges(
            withIntent: call.expands(prefix + "payment_intent"), withRefunds: call.expands(prefix + "refunds"),
            withMovement: call.expands(prefix + "balance_transaction"))
    }

    /// One charge.
    func charge() throws -> StripeAnswer {
        let intent = try tables.intent(ofCharge: call.intent)
        guard let charge = try intent.flatMap({ try charges(of: $0, "").first { $0.id == call.intent } }) else {
            return .missing("charge", call.intent, parameter: "id")
        }
        return StripeAnswer(200, charge.value)
    }

    /// The seconds that are asked for.
    var created: Range<Int64> {
        let from = call.parameters["created[gte]"].flatMap { Int64($0) } ?? 0
        return from..<max(from, call.parameters["created[lt]"].flatMap { Int64($0) } ?? .max)
    }

    // MARK: Pages

    private var limit: Int { call.parameters["limit"].flatMap { Int($0) } ?? 10 }

    func page(_ all: [(id: String, value: JSONTree)]) -> StripeAnswer {
        guard let rest = rest(of: all) else { return noSuchPosition(call.parameters["starting_after"] ?? "") }
        return StripeAnswer(200, StripeShapes.list(rest.prefix(limit).map(\.value), hasMore: rest.count > limit))
    }

    /// What comes after the position; nil where it is not among them.
    private func rest(of all: [(id: String, value: JSONTree)]) -> ArraySlice<(id: String, value: JSONTree)>? {
        guard let last = call.parameters["starting_after"] else { return all[...] }
        return all.firstIndex { $0.id == last }.map { all[($0 + 1)...] }
    }

    private func noSuchPosition(_ id: String) -> StripeAnswer {
        .invalid("resource_missing", "No such object: '\(id)'", parameter: "starting_after")
    }

    /// The intent as this read sees it: a stale one shows the state before the last change.
    func viewed(_ intent: StripeIntent) throws -> StripeShapes {
        guard let found = try stored(intent) else { return StripeShapes(record: nil, intent: intent) }
        let record = try step.viewed(found, fault, table, now: rules.now)
        return StripeShapes(record: record, intent: intent, isBehind: record != found.record)
    }
}
