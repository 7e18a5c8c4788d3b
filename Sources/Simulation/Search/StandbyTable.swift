internal import PaymentCore

/// Rows as a standby has them. Two rows that come to the same after rows were lost are one.
struct StandbyTable {
    private(set) var rows: [LocalState] = []
    private(set) var latches: [Latch] = []
    private var ids: [[UInt8]: UInt32] = [:]
    private var ofRow: [UInt32: UInt32] = [:]
    private var afterPassing: [UInt64: UInt32] = [:]
    private var recovered: [UInt32: UInt32] = [:]

    /// The standby has no row yet.
    static let empty: UInt32 = 0

    private mutating func intern(_ row: LocalState, _ world: SearchWorld) -> UInt32 {
        var key = Projection(world.recovered(row, mayBegin: false).state, world).bytes
        key.append(contentsOf: row.payment.latch.rawValue.utf8)
        if let known = ids[key] { return known }
        rows.append(row)
        latches.append(row.payment.latch)
        let id = UInt32(rows.count)
        ids[key] = id
        return id
    }

    /// The copy of a row.
    mutating func copy(of id: UInt32, _ locals: borrowing LocalTable) -> UInt32 {
        if let known = ofRow[id] { return known }
        let made = intern(locals.states[Int(id)], locals.world)
        ofRow[id] = made
        return made
    }

    /// The latch that the copy has.
    func latch(_ id: UInt32) -> Latch? { id == StandbyTable.empty ? nil : latches[Int(id) - 1] }

    /// The copy, so much later.
    mutating func passing(_ id: UInt32, _ event: LocalEvent, _ world: SearchWorld) -> UInt32 {
        guard id != StandbyTable.empty else { return id }
        let key = UInt64(id) << 32 | event.code
        if let known = afterPassing[key] { return known }
        guard let step = world.step(rows[Int(id) - 1], event) else { return id }
        let made = intern(step.state, world)
        afterPassing[key] = made
        return made
    }

    /// The row as its next holder has it after the loss; where there was none, the caller creates it again.
    mutating func recover(_ id: UInt32, _ locals: inout LocalTable) -> UInt32 {
        if let known = recovered[id] { return known }
        let world = locals.world
        let step =
            id == StandbyTable.empty
            ? world.created(afterLoss: true, at: world.start) : world.recovered(rows[Int(id) - 1])
        let made = locals.intern(step.state)
        recovered[id] = made
        return made
    }
}
