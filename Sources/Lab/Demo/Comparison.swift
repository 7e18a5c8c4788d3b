/// The comparison of the daemon's books with the providers' ledgers, line by line. Pure: everything comes in
/// as values.
///
/// The lines meet by the payment and leg that the provider was told in the transaction's metadata. No key is
/// derived here: a daemon that derives a wrong one shall be found out.
struct Comparison: Sendable {
    /// Something that one side says and the other does not.
    struct Difference: Sendable, Equatable, Encodable {
        /// The worst first.
        enum Kind: String, Sendable, Encodable, CaseIterable {
            case chargedTwice = "charged_twice"
            case lost
            case inDoubt = "in_doubt"
            case booksDiffer = "books_differ"
            case needlessQuarantine = "needless_quarantine"
        }

        let kind: Kind
        let payment: String
        let leg: Int?
        let ours: String
        let theirs: String
    }

    /// A payment and the place of a leg in it.
    struct Place: Hashable {
        let payment: String
        let leg: Int
    }

    private(set) var differences: [Difference] = []
    /// Legs that were compared.
    private(set) var legs = 0
    /// Payments of which a provider recorded another amount than it was asked for.
    private(set) var forced: Set<String> = []

    private let sides: BothSides
    private let plans: [String: PlannedPayment]
    private let memories: [String: CallerMemory]
    private let lines: [Place: [BothSides.Line]]

    init(_ sides: BothSides, plans: [PlannedPayment], memories: [String: CallerMemory]) {
        self.sides = sides
        self.memories = memories
        self.plans = Dictionary(plans.map { ($0.reference, $0) }) { first, _ in first }
        var lines: [Place: [BothSides.Line]] = [:]
        for line in sides.ledger {
            guard let payment = line.payment, let leg = line.leg else { continue }
            lines[Place(payment: payment, leg: leg), default: []].append(line)
        }
        self.lines = lines
        forced = Comparison.forced(sides.journal)
        compareLedger()
        for payment in sides.payments { compare(payment) }
        compareMemories()
        differences = Difference.Kind.allCases.flatMap { kind in differences.filter { $0.kind == kind } }
    }

    /// How many differences of a kind there are; for what concerns whole payments, how many payments.
    func count(_ kind: Difference.Kind) -> Int { differences.count { $0.kind == kind } }

    /// The amount that the provider recorded is not the one it was asked for: nothing that the daemon may do
    /// makes that right. Only the first request that was executed under a key records an amount.
    private static func forced(_ journal: [BothSides.Request]) -> Set<String> {
        var recorded: Set<[String]> = []
        var forced: Set<String> = []
        for request in journal where request.line.executed {
            let line = request.line
            let isFirst = recorded.insert([request.provider, line.operation, line.key, line.entryKey]).inserted
            // Created, or declined under the wrong amount; refused for another reason, it is not recorded at
            // all.
            let isRecorded = [200, 201, 402].contains(line.result)
            guard isFirst, line.fault == "amount_changed", isRecorded else { continue }
            if let payment = request.payment { forced.insert(payment) }
        }
        return forced
    }

    private mutating func note(
        _ kind: Difference.Kind, _ payment: String, _ leg: Int?, ours: String, theirs: String
    ) {
        differences.append(Difference(kind: kind, payment: payment, leg: leg, ours: ours, theirs: theirs))
    }

    /// What the providers hold that the books do not know, and what they took more than once.
    private mutating func compareLedger() {
        let booked = Dictionary(sides.payments.map { ($0.id, $0.legs.count) }) { first, _ in first }
        for line in sides.ledger where line.movesMoney {
            guard let payment = line.payment, let leg = line.leg, let count = booked[payment],
                (0..<count).contains(leg)
            else {
                note(
                    .lost, line.payment ?? "(unknown)", line.leg, ours: "no such payment or leg",
                    theirs: "\(line.provider) \(Comparison.words(line))")
                continue
            }
        }
        for (legKey, found) in lines.sorted(by: { ($0.key.payment, $0.key.leg) < ($1.key.payment, $1.key.leg) }) {
            let charges = found.reduce(0) { $0 + $1.charges }
            let taken = found.map(Comparison.words).joined(separator: " and ")
            if charges > 1 {
                note(.chargedTwice, legKey.payment, legKey.leg, ours: "one charge at most", theirs: taken)
            } else if found.count(where: \.movesMoney) > 1 {
                note(.booksDiffer, legKey.payment, legKey.leg, ours: "one transaction", theirs: taken)
            }
        }
    }

    private mutating func compare(_ payment: BookedPayment) {
        guard let plan = payment.reference.flatMap({ plans[$0] }) else {
            return note(
                .booksDiffer, payment.id, nil, ours: "reference \(payment.reference ?? "none")",
                theirs: "nobody asked for it")
        }
        compareState(payment, plan)
        let wished = plan.legs.map { "\($0.provider.rawValue) \($0.value)" }
        let booked = payment.legs.map { "\($0.provider) \($0.amount.value)" }
        guard wished == booked else {
            return note(
                .booksDiffer, payment.id, nil, ours: booked.joined(separator: ", "),
                theirs: "the caller asked for " + wished.joined(separator: ", "))
        }
        for (leg, asked) in zip(payment.legs, plan.asked) {
            legs += 1
            compare(leg, of: payment, asked: asked)
        }
        compareKeys(payment.id)
    }

    private mutating func compareState(_ payment: BookedPayment, _ plan: PlannedPayment) {
        if payment.isQuarantined {
            guard !forced.contains(payment.id) else { return }
            let causes = (sides.trails[payment.id] ?? []).filter { $0.type == "quarantined" }
                .map { "\($0.detail["cause"] ?? "?") by \($0.detail["row"] ?? "?")" }
            return note(
                .needlessQuarantine, payment.id, nil, ours: "quarantined: \(causes.joined(separator: ", "))",
                theirs: "every amount is as asked")
        }
        let rests = payment.state == "authorized" && plan.course == .leaveHeld
        guard payment.isSettled, payment.isFinal || rests else {
            let legs = payment.legs.map { "leg \($0.index) \($0.state)" }.joined(separator: ", ")
            let found = payment.legs.map { "leg \($0.index) \(theirs(payment.id, $0.index))" }
            return note(
                .inDoubt, payment.id, nil, ours: "\(payment.state): \(legs)", theirs: found.joined(separator: ", "))
        }
    }

    private mutating func compare(_ leg: BookedPayment.Leg, of payment: BookedPayment, asked: Int64) {
        let found = lines[Place(payment: payment.id, leg: leg.index)] ?? []
        let isOpen =
            leg.state == "quarantined"
            || payment.refunds.contains { refund in
                refund.legs.contains { $0.index == leg.index && $0.state == "quarantined" }
            }
        // What people must decide about differs by definition.
        guard !isOpen else { return }
        let captured = found.reduce(0) { $0 + $1.captured }
        let refunded = found.reduce(0) { $0 + $1.refunded }
        let held = found.reduce(0) { $0 + $1.held }
        let ours = "\(payment.state), captured \(leg.captured.value), refunded \(leg.refunded.value)"
        var isEqual = leg.captured.value == captured && leg.refunded.value == refunded
        switch payment.state {
        case "succeeded": isEqual = isEqual && captured == asked && held == 0
        case "canceled", "failed": isEqual = isEqual && captured == refunded && held == 0
        case "authorized": isEqual = isEqual && captured == 0 && held == leg.amount.value
        default: break
        }
        if !isEqual {
            note(
                .booksDiffer, payment.id, leg.index, ours: "\(ours) of \(asked) asked",
                theirs: "\(leg.provider) \(theirs(payment.id, leg.index))")
        }
    }

    /// One effect of a leg is sent under one key, however often.
    private mutating func compareKeys(_ payment: String) {
        var keys: [String: Set<String>] = [:]
        for event in sides.trails[payment] ?? [] where event.type == "intent" {
            guard let leg = event.leg, let effect = event.detail["effect"], let key = event.detail["key"] else {
                continue
            }
            keys["leg \(leg) \(effect)", default: []].insert(key)
        }
        for (effect, used) in keys.sorted(by: { $0.key < $1.key }) where used.count > 1 {
            note(.booksDiffer, payment, nil, ours: "\(effect) sent under \(used.count) keys", theirs: "-")
        }
    }

    /// What the caller was told still holds.
    private mutating func compareMemories() {
        for id in sides.unreadable {
            note(.lost, id, nil, ours: "not readable", theirs: "acknowledged to the caller")
        }
        let states = Dictionary(sides.payments.map { ($0.id, $0.state) }) { first, _ in first }
        for (reference, memory) in memories.sorted(by: { $0.key < $1.key }) {
            if !memory.isFinished {
                note(
                    .inDoubt, memory.id ?? reference, nil, ours: memory.id.flatMap { states[$0] } ?? "unknown",
                    theirs: "the caller has no answer to \(memory.openRequest ?? "its request")")
            }
            guard let id = memory.id, let told = memory.settledAs, let state = states[id], state != told else {
                continue
            }
            note(.booksDiffer, id, nil, ours: state, theirs: "the caller was told \(told)")
        }
    }

    private func theirs(_ payment: String, _ leg: Int) -> String {
        let found = lines[Place(payment: payment, leg: leg)] ?? []
        return found.isEmpty ? "nothing" : found.map(Comparison.words).joined(separator: " and ")
    }

    private static func words(_ line: BothSides.Line) -> String {
        var words = "\(line.status ?? "forgotten")"
        if line.charges > 0 { words += ", captured \(line.captured)" }
        if line.charges > 1 { words += " in \(line.charges) charges" }
        if line.refunded > 0 { words += ", refunded \(line.refunded)" }
        if line.held > 0 { words += ", held \(line.held)" }
        return words
    }
}
