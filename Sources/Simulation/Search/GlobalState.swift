/// One state of the search: the row, the copies of it elsewhere, both providers, and the wire.
struct GlobalState: Hashable, Sendable {
    /// The row in the store that decides, with its holder.
    var row: UInt32
    /// The copy at the standby.
    var standby: UInt32
    /// The row of an old site that goes on, plus one; 0 if there is none. Only in planted worlds.
    var oldSite: UInt32 = 0
    /// What a late writer wants to write, plus one; 0 if there is none. Only in planted worlds.
    var late: UInt32 = 0
    /// The first provider's leg, and the second's.
    var first = ProviderLeg()
    var second = ProviderLeg()
    /// Requests of which a copy may still arrive: six bits for each leg.
    var wire: UInt16 = 0
    /// What the caller was told, by bits: 1 succeeded, 2 canceled or failed, 4 authorized.
    var told: UInt8 = 0
    /// Failovers and restores so far.
    var losses: UInt8 = 0
    /// Of which legs people said what is not so, by bits.
    private(set) var lies: UInt8 = 0

    /// People said of a leg what is not so.
    mutating func saidWrongly(_ leg: Int) { lies |= 1 << UInt8(leg) }

    /// Whether people said of a leg what is not so.
    func isMisjudged(_ leg: Int) -> Bool { lies & 1 << UInt8(leg) != 0 }

    subscript(leg index: Int) -> ProviderLeg {
        get { index == 0 ? first : second }
        set { if index == 0 { first = newValue } else { second = newValue } }
    }

    private static func bit(_ leg: Int, _ slot: ProviderLeg.Slot) -> UInt16 {
        1 << UInt16(leg * ProviderLeg.Slot.allCases.count + slot.rawValue)
    }

    func isOnWire(_ leg: Int, _ slot: ProviderLeg.Slot) -> Bool { wire & GlobalState.bit(leg, slot) != 0 }

    mutating func putOnWire(_ leg: Int, _ slot: ProviderLeg.Slot) { wire |= GlobalState.bit(leg, slot) }

    mutating func takeOffWire(_ leg: Int, _ slot: ProviderLeg.Slot) { wire &= ~GlobalState.bit(leg, slot) }

    /// Three words that hold all of it.
    var words: (UInt64, UInt64, UInt64) {
        (
            UInt64(row) << 32 | UInt64(standby), UInt64(oldSite) << 32 | UInt64(late),
            UInt64(first.bits) << 48 | UInt64(second.bits) << 32 | UInt64(wire) << 16 | UInt64(told) << 8
                | UInt64(lies) << 4 | UInt64(losses)
        )
    }

    init(row: UInt32, standby: UInt32) {
        self.row = row
        self.standby = standby
    }
}

/// Every state that was met, in the order in which it was met, which is also the queue of the search.
struct VisitedStates {
    private(set) var states: [GlobalState] = []
    /// From which state each was met first.
    private(set) var parents: [UInt32] = []
    private var table: [UInt32]
    private var mask: Int
    static let none = UInt32.max

    init() {
        table = Array(repeating: VisitedStates.none, count: 1 << 16)
        mask = table.count - 1
    }

    private static func hash(_ state: GlobalState) -> Int {
        let words = state.words
        let mixed = Chance.mixed(words.0 ^ Chance.mixed(words.2 ^ words.1 &* 0x9E37_79B9_7F4A_7C15))
        return Int(truncatingIfNeeded: mixed)
    }

    /// The number of a state, and whether it is new.
    mutating func insert(_ state: GlobalState, from parent: UInt32) -> (index: UInt32, isNew: Bool) {
        var slot = VisitedStates.hash(state) & mask
        while table[slot] != VisitedStates.none {
            if states[Int(table[slot])] == state { return (table[slot], false) }
            slot = (slot + 1) & mask
        }
        let index = UInt32(states.count)
        table[slot] = index
        states.append(state)
        parents.append(parent)
        if states.count * 2 > table.count { grow() }
        return (index, true)
    }

    private mutating func grow() {
        table = Array(repeating: VisitedStates.none, count: table.count * 2)
        mask = table.count - 1
        for index in states.indices {
            var slot = VisitedStates.hash(states[index]) & mask
            while table[slot] != VisitedStates.none { slot = (slot + 1) & mask }
            table[slot] = UInt32(index)
        }
    }
}
