/// What a provider has of one leg, in as few bits as the search needs. Amounts follow from the scenario.
struct ProviderLeg: Hashable, Sendable {
    /// The status of the transaction.
    enum Status: UInt32 {
        case absent, pending, held, taken, declined, tombstoned, voided, expired
    }

    /// What became of a movement under its own key.
    enum Movement: UInt32 {
        case none, done, declined
        /// It was done, and its key is past its retention: a request under it is executed anew.
        case doneAndForgotten

        var isDone: Bool { self == .done || self == .doneAndForgotten }
    }

    /// The effects of a leg that can be on the wire. The raw value is the bit in ``GlobalState/wire``.
    enum Slot: Int, CaseIterable, Sendable {
        case primary, capture, void, compensation, firstRefund, secondRefund

        /// The first effect of a leg's asked-for refunds.
        static func refund(_ refundIndex: Int) -> Slot? { Slot(rawValue: Slot.firstRefund.rawValue + refundIndex) }
    }

    /// All of it: 16 bits.
    private(set) var bits: UInt32

    init() { bits = 0 }
    init(bits: UInt32) { self.bits = bits }

    private subscript(bits offset: UInt32, count: UInt32) -> UInt32 {
        get { bits >> offset & (1 << count - 1) }
        set { bits = bits & ~((1 << count - 1) << offset) | newValue << offset }
    }

    private subscript(bit offset: UInt32) -> Bool {
        get { self[bits: offset, 1] == 1 }
        set { self[bits: offset, 1] = newValue ? 1 : 0 }
    }

    private subscript(movement offset: UInt32) -> Movement {
        get { Movement(rawValue: self[bits: offset, 2]) ?? .none }
        set { self[bits: offset, 2] = newValue.rawValue }
    }

    var status: Status {
        get { Status(rawValue: self[bits: 0, 3]) ?? .absent }
        set { self[bits: 0, 3] = newValue.rawValue }
    }
    /// A capture was declined under its key.
    var captureDeclined: Bool {
        get { self[bit: 3] }
        set { self[bit: 3] = newValue }
    }
    /// The refund that undoes a capture.
    var compensation: Movement {
        get { self[movement: 4] }
        set { self[movement: 4] = newValue }
    }
    /// A refund that the caller asked for.
    subscript(refund refundIndex: Int) -> Movement {
        get { self[movement: 6 + 2 * UInt32(refundIndex)] }
        set { self[movement: 6 + 2 * UInt32(refundIndex)] = newValue }
    }
    /// The key of the transaction is past its retention: a request under it is executed anew.
    var keyForgotten: Bool {
        get { self[bit: 10] }
        set { self[bit: 10] = newValue }
    }
    /// The status can no longer be read.
    var statusForgotten: Bool {
        get { self[bit: 11] }
        set { self[bit: 11] = newValue }
    }
    /// Something was executed twice: two live charges, which no later request can tell apart.
    var chargedTwice: Bool {
        get { self[bit: 12] }
        set { self[bit: 12] = newValue }
    }
    /// It changed a moment ago: reads within the visibility lag may show what was before.
    var isRecent: Bool {
        get { self[bit: 13] }
        set { self[bit: 13] = newValue }
    }
    /// Somebody voided or refunded it at the provider's own console.
    var changedOutside: Bool {
        get { self[bit: 14] }
        set { self[bit: 14] = newValue }
    }
    /// It appeared a moment ago: such reads may even show nothing.
    var isNew: Bool {
        get { self[bit: 15] }
        set { self[bit: 15] = newValue }
    }

    /// All keys are past their retention.
    mutating func forgetKeys() {
        keyForgotten = true
        if compensation == .done { compensation = .doneAndForgotten }
        for refundIndex in 0..<2 where self[refund: refundIndex] == .done {
            self[refund: refundIndex] = .doneAndForgotten
        }
    }

    /// A tombstone was left on a key whose hold or charge the provider had forgotten: it stands beneath.
    var standsBeneathTombstone: Bool { status == .tombstoned && keyForgotten }

    /// What a status read shows; nothing once the provider forgot it.
    var shown: ProviderLeg { statusForgotten ? ProviderLeg() : shownInAnswer }

    /// What an answer to a request shows. What nobody can see is cleared, so that equal answers are equal values.
    var shownInAnswer: ProviderLeg {
        var shown = self
        shown.statusForgotten = false
        shown.keyForgotten = false
        if shown.compensation.isDone { shown.compensation = .done }
        for refundIndex in 0..<2 where shown[refund: refundIndex].isDone { shown[refund: refundIndex] = .done }
        shown.chargedTwice = false
        shown.isRecent = false
        shown.isNew = false
        return shown
    }

    /// What the provider can tell of an effect: whether it was done; `nil` where it did not come to that, or is
    /// undecided.
    func end(of slot: Slot, isSale: Bool) -> Bool? {
        func end(of movement: Movement) -> Bool? { movement == .none ? nil : movement.isDone }
        switch slot {
        case .primary:
            switch status {
            case .held, .taken, .voided, .expired: return true
            case .declined: return false
            case .absent, .pending, .tombstoned: return nil
            }
        case .capture:
            if captureDeclined { return false }
            return status == .taken && !isSale && !changedOutside ? true : nil
        case .void: return status == .voided && !changedOutside || status == .tombstoned ? true : nil
        case .compensation: return end(of: compensation)
        case .firstRefund: return end(of: self[refund: 0])
        case .secondRefund: return end(of: self[refund: 1])
        }
    }

    /// Earlier states that a read within the visibility lag may still show.
    func earlier(isSale: Bool) -> [ProviderLeg] {
        guard isRecent else { return [] }
        var views: [ProviderLeg] = []
        if isNew { views.append(ProviderLeg()) }
        if status == .voided || status == .expired || status == .taken && !isSale {
            var before = ProviderLeg()
            before.status = isSale ? .taken : .held
            views.append(before)
        }
        if status == .taken, compensation != .none || self[refund: 0] != .none || self[refund: 1] != .none {
            var taken = ProviderLeg()
            taken.status = .taken
            views.append(taken)
        }
        return views
    }
}

extension ProviderLeg: CustomStringConvertible {
    var description: String {
        var words = "\(status)"
        if status == .absent { words = "not found" }
        if captureDeclined { words += ", capture declined" }
        if compensation.isDone { words += ", REFUNDED" }
        if compensation == .declined { words += ", refund declined" }
        for refundIndex in 0..<2 where self[refund: refundIndex] != .none {
            words += ", refund \(refundIndex) \(self[refund: refundIndex])"
        }
        if keyForgotten { words += ", key forgotten" }
        if standsBeneathTombstone { words += ", WHAT WAS EXECUTED STANDS BENEATH" }
        if chargedTwice { words += ", CHARGED TWICE" }
        if changedOutside { words += ", changed at the console" }
        return words
    }
}
