internal import PaymentCore

/// Every row that was met, and every step that the shipped machine took on it. A step is taken once and remembered: it
/// is a pure function of what the projection holds, which is what makes millions of states affordable.
struct LocalTable {
    let world: SearchWorld
    private(set) var states: [LocalState] = []
    private(set) var traits: [LocalTraits] = []
    private var ids: [[UInt8]: UInt32] = [:]
    private var steps: [UInt64: UInt32] = [:]
    /// The first rule that a single step broke, with the row and the event.
    private(set) var broken: (finding: SearchFinding, from: UInt32, event: LocalEvent)?
    /// Rows that were met again, with what was there before: the sample that ``audited()`` checks.
    private var sample: [(known: UInt32, again: LocalState)] = []
    private var met = 0

    /// No such step.
    static let none = UInt32.max

    init(_ world: SearchWorld) { self.world = world }

    /// The number of a row; rows with the same projection have the same.
    mutating func intern(_ state: LocalState) -> UInt32 {
        let key = Projection(state, world).bytes
        if let known = ids[key] {
            met += 1
            if sample.count < 4_000, met % 7 == 0 { sample.append((known, state)) }
            return known
        }
        let id = UInt32(states.count)
        states.append(state)
        traits.append(LocalTraits(state, world))
        ids[key] = id
        return id
    }

    /// The row after an event; ``none`` where it means nothing.
    mutating func step(_ id: UInt32, _ event: LocalEvent) -> UInt32 {
        let key = UInt64(id) << 32 | event.code
        if let known = steps[key] { return known }
        guard let step = world.step(states[Int(id)], event) else {
            steps[key] = LocalTable.none
            return LocalTable.none
        }
        if let finding = step.broken, broken == nil { broken = (finding, id, event) }
        let next = intern(step.state)
        steps[key] = next
        return next
    }

    /// Takes the same steps on rows that were held to be equal, and compares where they lead.
    ///
    /// - Returns: how many steps were compared, and the first that differed, in words.
    mutating func audited() -> (compared: Int, difference: String?) {
        let pairs = sample
        let events = Array(Set(steps.keys.map { $0 & 0xFFFF_FFFF })).sorted()
        var known: [UInt64: LocalEvent] = [:]
        for event in eventsForAudit() { known[event.code] = event }
        var compared = 0
        for (id, again) in pairs {
            for code in events {
                guard let event = known[code], let next = steps[UInt64(id) << 32 | code] else { continue }
                let made = world.step(again, event).map { intern($0.state) } ?? LocalTable.none
                compared += 1
                if made != next { return (compared, "row \(id), \(event): \(next) and \(made)") }
            }
        }
        return (compared, nil)
    }

    private func eventsForAudit() -> [LocalEvent] {
        var events: [LocalEvent] = [
            .wakes, .takenOver, .cancels, .cancelsBeside, .captures, .acknowledged, .lifePasses, .retentionPasses,
            .deadlinePasses, .holdsEnd, .refunds(0), .refunds(1),
        ]
        for action in Repair.Action.allCases {
            events += world.legContracts.indices.map { .repaired(.leg($0), action) }
            events += world.scenario.refunds.indices.map { .repaired(.refund($0, leg: 0), action) }
        }
        var views: [ProviderLeg] = []
        for raw in 0..<8 as Range<UInt32> { views.append(ProviderLeg(bits: raw)) }
        for leg in world.legContracts.indices {
            events += [.readFails(leg: leg), .readEnds(leg: leg), .contradicts(leg: leg)]
            for outcome in OutcomeClass.allCases {
                events.append(.ends(leg: leg, outcome, credentials: false))
                events += views.map { .answered(leg: leg, outcome, $0) }
            }
            events += views.map { .reads(leg: leg, $0) }
            for slot in ProviderLeg.Slot.allCases where world.scenario.tells {
                events += [true, false].map { .told(leg: leg, slot, isDone: $0) }
                events += [true, false].map { .toldAstray(leg: leg, slot, ofAnother: $0) }
            }
            events += views.map { .readBegins(leg: leg, $0) }
        }
        return events
    }
}
