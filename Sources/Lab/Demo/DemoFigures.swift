/// The figures of a run, counted from the books, the audit trails and the providers' journals.
struct DemoFigures: Sendable, Equatable, Encodable {
    /// Payments by their state.
    var payments: [String: Int] = [:]
    /// Legs of all payments.
    var legs = 0
    /// Requests that the providers received from the daemon.
    var providerRequests = 0
    /// Those of them that suffered a fault.
    var faultyRequests = 0
    /// Requests that a provider executed and did not answer, or not in a way that can be believed.
    var answersLost = 0
    /// Effects that were under way when the daemon was killed.
    var leftByKills = 0
    /// Effects in doubt that were settled by asking for their status alone.
    var settledWithoutSendingAgain = 0
    /// Effects that were sent again, under the same key.
    var sentAgain = 0
    /// Legs that were undone: voided, tombstoned, or given back.
    var rolledBack = 0
    /// Refunds that callers asked for and got.
    var refunds = 0
    /// Quarantined payments and refunds.
    var quarantined = 0

    private struct Effect: Hashable {
        let payment: String
        let leg: Int
        let name: String
    }

    init() {}

    init(_ sides: BothSides) {
        for payment in sides.payments {
            payments[payment.state, default: 0] += 1
            legs += payment.legs.count
            refunds += payment.refunds.count { $0.state == "succeeded" }
            quarantined += payment.isQuarantined ? 1 : 0
        }
        countRequests(sides.journal)
        countEffects(sides)
    }

    private static let spoiledAnswers: Set<String> = [
        "response_lost", "error_after", "html", "truncated", "missing_status", "slow",
    ]

    private mutating func countRequests(_ journal: [BothSides.Request]) {
        for request in journal {
            let line = request.line
            if line.origin == "client" && line.operation != "list" {
                providerRequests += 1
                faultyRequests += line.fault == nil ? 0 : 1
            }
            let isSpoiled = line.fault.map(DemoFigures.spoiledAnswers.contains) ?? false
            // Late and delayed arrivals execute when nobody listens any more.
            let isUnheard = line.origin == "late" || line.origin == "delayed"
            let moves = ["authorize", "sale", "capture", "void", "refund"].contains(line.operation)
            if moves && line.executed && (isUnheard || (line.origin == "client" && isSpoiled)) { answersLost += 1 }
        }
    }

    private mutating func countEffects(_ sides: BothSides) {
        let payments = Dictionary(sides.payments.map { ($0.id, $0) }) { first, _ in first }
        for (id, trail) in sides.trails {
            var intents: [Effect: Int] = [:]
            var doubtful: Set<Effect> = []
            var undone: Set<Int> = []
            for event in trail {
                guard let leg = event.leg else { continue }
                let effect = Effect(payment: id, leg: leg, name: event.detail["effect"] ?? "")
                switch event.type {
                case "intent": intents[effect, default: 0] += 1
                case "outcome" where event.detail["outcome"] == "indeterminate": doubtful.insert(effect)
                case "claimed":
                    leftByKills += 1
                    doubtful.insert(effect)
                case "decision" where DemoFigures.isUndone(event): undone.insert(leg)
                default: break
                }
            }
            sentAgain += intents.values.count { $0 > 1 }
            guard let payment = payments[id], payment.isSettled, !payment.isQuarantined else { continue }
            settledWithoutSendingAgain += doubtful.count { intents[$0] == 1 }
            // What a partial capture leaves of a payment that succeeded is released, not rolled back.
            if payment.state != "succeeded" { rolledBack += undone.count }
        }
    }

    private static func isUndone(_ event: BookedEvent) -> Bool {
        guard event.detail["decision"] == "gone", let status = event.detail["status"] else { return false }
        return ["voided", "tombstoned", "captured"].contains(status)
    }

    /// Payments whose audit trail has a gap, or an event that does not follow from the one before it.
    static func brokenTrails(_ trails: [String: [BookedEvent]]) -> [String] {
        trails.filter { _, trail in
            var sequence: Int64 = 0
            var hash: String?
            for event in trail {
                guard event.sequence == sequence + 1, hash == nil || event.previousHash == hash else { return true }
                (sequence, hash) = (event.sequence, event.hash)
            }
            return trail.isEmpty
        }.keys.sorted()
    }
}
