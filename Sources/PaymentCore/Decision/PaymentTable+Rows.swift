// The rows of the payment table. Each latch has its own; those of one latch are in order.

extension PaymentTable {
    private static func row(
        _ latch: Latch, _ name: String, when matches: @escaping @Sendable (PaymentFacts) -> Bool,
        then decision: @escaping @Sendable (PaymentFacts) -> PaymentDecision
    ) -> Row {
        Row(name, when: { $0.latch == latch && matches($0) }, then: decision)
    }

    private static func row(
        _ latch: Latch, _ name: String, _ decision: PaymentDecision,
        when matches: @escaping @Sendable (PaymentFacts) -> Bool = { _ in true }
    ) -> Row {
        row(latch, name, when: matches, then: { _ in decision })
    }

    /// No latch yet.
    static let undecidedRows: [Row] = [
        // What nothing is left to be decided about needs no caller: it may have been told, and never ask again. Where
        // acknowledged rows are kept, no capture has left whose request is not in them.
        row(.none, "none.recovery-adopt-capture", .adoptCapture) {
            $0.isProvable && $0.mayHaveLostRequests && $0.holdOnly && $0.taken.count == $0.legs.count
        },
        row(
            .none, "none.recovery-await-capture", when: { $0.isProvable && $0.holdOnly && !$0.taken.isEmpty },
            then: { .awaitCapture($0.taken) }),
        row(.none, "none.recovery-proof-forward", .latch(.forward)) { $0.isProvable && $0.missing.isEmpty },
        // What people decide about may be what is missing for the proof.
        row(.none, "none.recovery-quarantined", .wait) { $0.isProvable && $0.missing == [.quarantined] },
        // Nothing is captured before everything is held: what is denied now was there, and its caller may know
        // of a success. Where acknowledged rows are kept nobody was told, and it is turned back.
        row(
            .none, "none.recovery-missing",
            when: { $0.isProvable && $0.mayHaveLostRequests && $0.isOnlyDenied }, then: { .missing($0.denied) }),
        row(.none, "none.recovery-proof-back", .latch(.back)) { $0.isProvable },
        row(.none, "none.stop", .latch(.back)) { $0.mustStop && $0.mayLatch },
        row(.none, "none.stop-read-first", .readAll) { $0.mustStop },
        row(
            .none, "none.captured-outside", when: { $0.holdOnly && !$0.taken.isEmpty && !$0.inRecovery },
            then: { .leaveToPeople($0.taken) }),
        row(.none, "none.authorize", when: { !$0.unheld.isEmpty }, then: { .authorize($0.unheld) }),
        row(.none, "none.quarantined", .wait) { !$0.othersHeld },
        row(
            .none, "none.sell", when: { $0.openSale != nil },
            then: { facts in facts.openSale.map { .sell($0) } ?? .wait }),
        row(.none, "none.sale-quarantined", .wait) { $0.isSaleMissing },
        row(.none, "none.rest", .rest) { $0.holdOnly },
        row(.none, "none.complete", .latch(.forward)) { $0.mayLatch },
        row(.none, "none.complete-read-first", .readAll),
    ]

    /// Everything is to be taken.
    static let forwardRows: [Row] = [
        row(.forward, "forward.lost-read-first", .readAll) { $0.isCaptureLost && !$0.mayLatch },
        row(.forward, "forward.capture-lost", .latch(.compensate)) { $0.isCaptureLost },
        row(.forward, "forward.read-first", .readAll) { facts in
            facts.inRecovery && !facts.legs.allSatisfy { $0.freshlyRead || $0.forward == .done }
        },
        // The keys and amounts of these captures are known from the request only: it must not be lost after them.
        row(.forward, "forward.request-unacknowledged", .wait) { $0.hasCaptureRequest && !$0.latchAcknowledged },
        row(.forward, "forward.capture", when: { !$0.uncaptured.isEmpty }, then: { .capture($0.uncaptured) }),
        row(.forward, "forward.quarantined", .wait) { !$0.legs.allSatisfy { $0.forward == .done } },
        row(.forward, "forward.complete", .conclude(.succeeded)),
    ]

    /// Nothing is to stand.
    static func undoingRows(_ latch: Latch, _ name: String, _ ending: PaymentDecision.Ending) -> [Row] {
        [
            row(latch, "\(name).read-first", .readAll) { facts in
                facts.inRecovery && !facts.legs.allSatisfy { $0.freshlyRead || $0.standing == .gone }
            },
            row(latch, "\(name).undo", when: { !$0.legsToUndo.isEmpty }, then: { .undo($0.legsToUndo) }),
            row(latch, "\(name).quarantined", .wait) { !$0.legs.allSatisfy { $0.standing == .gone } },
            // Told only once the latch is kept by every store that must keep it (C16, W1).
            row(latch, "\(name).unacknowledged", .wait) { !$0.latchAcknowledged },
            row(latch, "\(name).complete", .conclude(ending)),
        ]
    }
}

extension PaymentFacts {
    /// Untrusted rows, every leg freshly read, and one captured, also while people decide about it: the others tell
    /// where the payment was going.
    fileprivate var isProvable: Bool {
        inRecovery && legs.allSatisfy(\.freshlyRead)
            && (!taken.isEmpty || legs.contains { $0.isAsked && $0.isCapturedWithPeople })
    }

    fileprivate var mayLatch: Bool { !inRecovery || legs.allSatisfy(\.freshlyRead) }

    fileprivate var mustStop: Bool {
        stopAsked || legs.contains { $0.standing == .lost || $0.standing == .gone }
    }

    fileprivate var isCaptureLost: Bool { legs.contains { $0.forward == .unattainable } }

    /// The standings, other than held and taken, of legs of which something is to be captured.
    fileprivate var missing: Set<Standing> {
        Set(legs.filter(\.isAsked).map(\.standing)).subtracting([.taken, .held])
    }

    /// Legs that shall be there, and that their providers deny.
    fileprivate var denied: [Int] {
        legs.indices.filter { legs[$0].isAsked && legs[$0].standing == .open && legs[$0].isDenied }
    }

    /// Whether nothing else is missing, but for what people decide about.
    fileprivate var isOnlyDenied: Bool {
        let others = legs.indices.filter { legs[$0].isAsked && legs[$0].standing != .quarantined }
            .filter { ![.taken, .held].contains(legs[$0].standing) }
        return !denied.isEmpty && others == denied
    }

    fileprivate var taken: [Int] { legs.indices.filter { legs[$0].standing == .taken } }

    fileprivate var unheld: [Int] { legs.indices.filter { !legs[$0].isOnePhase && legs[$0].standing == .open } }

    fileprivate var othersHeld: Bool {
        legs.allSatisfy { $0.isOnePhase || $0.standing == .held || $0.standing == .taken }
    }

    private var missingSale: Int? {
        legs.firstIndex { $0.isOnePhase }.flatMap { legs[$0].standing == .taken ? nil : $0 }
    }

    fileprivate var isSaleMissing: Bool { missingSale != nil }

    fileprivate var openSale: Int? { missingSale.flatMap { legs[$0].standing == .open ? $0 : nil } }

    fileprivate var uncaptured: [Int] {
        legs.indices.filter { legs[$0].forward == .wanted && legs[$0].standing != .quarantined }
    }

    fileprivate var legsToUndo: [Int] {
        legs.indices.filter { legs[$0].standing != .gone && legs[$0].standing != .quarantined }
    }
}
