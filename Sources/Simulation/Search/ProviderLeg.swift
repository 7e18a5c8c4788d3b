/// What a provider has of one leg, in as few bits as the search needs. Amounts follow from the scenario.
struct ProviderLeg: Hashable, Sendable {
    /// The status of the transaction.
    enum Status: UInt32 {
        case absent, pending, held, taken, declined, tombstoned, voided, expired
    }

    /// What became of a movement under its own key.
    enum Movement: UInt32 {
        case none, done, declined
    }

    /// The effects of a leg that can be on the wire. The raw value is the bit in ``GlobalState/wire``.
    enum Slot: Int, CaseIterable, Sendable {
        case primary, capture, void, compensation, firstRefund, secondRefund

        /// The first effect of a leg's asked-for refunds.
        static func refund(_ place: Int) -> Slot? { Slot(rawValue: Slot.firstRefund.rawValue + place) }
    }

    /// All of it: 16 bits.
    private(set) var bits: UInt32

    init() { bits = 0 }
    init(bits: UInt32) { self.bits = bits }

    private func field(_ shift: UInt32, _ width: UInt32) -> UInt32 { bits >> shift & (1 << width - 1) }

    private mutating func set(_ value: UInt32, _ shift: UInt32, _ width: UInt32) {
        bits = bits & ~((1 << width - 1) << shift) | value << shift
    }

    var status: Status {
        get { Status(rawValue: field(0, 3)) ?? .absent }
        set { set(newValue.rawValue, 0, 3) }
    }
    /// A capture was declined under its key.
    var captureDeclined: Bool {
        get { field(3, 1) == 1 }
        set { set(newValue ? 1 : 0, 3, 1) }
    }
    /// The refund that undoes a capture.
    var compensation: Movement {
        get { Movement(rawValue: field(4, 2)) ?? .none }
        set { set(newValue.rawValue, 4, 2) }
    }
    /// A refund that the caller asked for.
    subscript(refund place: Int) -> Movement {
        get { Movement(rawValue: field(6 + 2 * UInt32(place), 2)) ?? .none }
        set { set(newValue.rawValue, 6 + 2 * UInt32(place), 2) }
    }
    /// The key of the transaction is past its retention: a request under it is executed anew.
    var keyForgotten: Bool {
        get { field(10, 1) == 1 }
        set { set(newValue ? 1 : 0, 10, 1) }
    }
    /// The status can no longer be read.
    var statusForgotten: Bool {
        get { field(11, 1) == 1 }
        set { set(newValue ? 1 : 0, 11, 1) }
    }
    /// Something was executed twice: two live charges, which no later request can tell apart.
    var chargedTwice: Bool {
        get { field(12, 1) == 1 }
        set { set(newValue ? 1 : 0, 12, 1) }
    }
    /// It changed a moment ago: reads within the visibility lag may show what was before.
    var isRecent: Bool {
        get { field(13, 1) == 1 }
        set { set(newValue ? 1 : 0, 13, 1) }
    }
    /// Somebody voided or refunded it at the provider's own console.
    var changedOutside: Bool {
        get { field(14, 1) == 1 }
        set { set(newValue ? 1 : 0, 14, 1) }
    }

    /// It appeared a moment ago: such reads may even show nothing.
    var isNew: Bool {
        get { field(15, 1) == 1 }
        set { set(newValue ? 1 : 0, 15, 1) }
    }

    /// What a status read shows; bits that nobody can see are cleared, so that equal answers are equal values.
    var shown: ProviderLeg {
        if statusForgotten { return ProviderLeg() }
        var shown = self
        shown.keyForgotten = false
        shown.chargedTwice = false
        shown.isRecent = false
        shown.isNew = false
        return shown
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
        if compensation == .done { words += ", REFUNDED" }
        if compensation == .declined { words += ", refund declined" }
        for place in 0..<2 where self[refund: place] != .none { words += ", refund \(place) \(self[refund: place])" }
        if keyForgotten { words += ", key forgotten" }
        if chargedTwice { words += ", CHARGED TWICE" }
        if changedOutside { words += ", changed at the console" }
        return words
    }
}
