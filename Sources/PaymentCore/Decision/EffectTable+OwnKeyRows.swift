extension EffectTable {
    /// The rows of table C in docs/protocol.md: a capture, a void or a refund, each under a key of its own. They are
    /// only ever wanted.
    ///
    /// What may fail (a refund that was asked for) fails only once nothing of it can arrive any more. What must not
    /// fail (what undoes a leg) goes to people, once a read that cannot be stale shows that it is still needed: the leg
    /// may be gone already.
    static let ownKeyRows: [Row] =
        knownOwnKeyRows + unsentOwnKeyRows + resentOwnKeyRows + refusedOwnKeyRows + [
            own("own.ask", .inquire) { $0.status == .notAsked && !$0.isRefusedUnasked },
            // Also after a doubt: sent again, it would be answered as done again, and missed again, for ever.
            own("own.accepted-lagging", .awaitVisibility) {
                $0.isSaidToBeDone && $0.visibility != .missedTwice
            },
            own("own.accepted-missing", .quarantine(.acceptedButMissing)) { $0.isSaidToBeDone },
            own("own.doubt-lagging", .awaitVisibility) {
                ($0.lastRefused || $0.keyConflicts) && $0.visibility == .lagging
            },
            own("own.key-conflict", .quarantine(.contradiction)) { $0.keyConflicts },
            own("own.capture-refused-after-doubt", .goneAfterUndo) { $0.purpose == .capture && $0.lastRefused },
            // What must not fail is sent again unless a refusal is surely about it.
            own("own.undo-refused-after-doubt", .quarantine(.undoRefused)) {
                $0.purpose == .undo && $0.lastRefused && $0.refusalNamesKey
            },
            own("own.refund-denied-after-doubt", .quarantine(.refundInDoubt)) {
                $0.purpose == .refund && $0.lastRefused && $0.status == .denied && $0.lifeIsOver
            },
            own("own.refund-refused-after-doubt", .gone(.neverHappened)) {
                $0.purpose == .refund && $0.lastRefused && $0.lifeIsOver
            },
            own("own.refund-doubt-await-life", .awaitLife) { $0.purpose == .refund && $0.lastRefused },
            own("own.doubt-disputed", .awaitDispute) { $0.isDisputed && $0.age == .safe },
            own("own.not-found-send-again", .sendAgain) { $0.age == .safe },
            own("own.not-found-too-old", .quarantine(.keyTooOld)) { _ in true },
        ]

    private static func own(
        _ name: String, _ decision: EffectDecision, when matches: @escaping @Sendable (EffectFacts) -> Bool
    ) -> Row {
        Row(name, decision) { $0.purpose != nil && $0.goal == .do && matches($0) }
    }

    /// The status tells.
    private static let knownOwnKeyRows: [Row] = [
        own("own.contradiction", .quarantine(.contradiction)) {
            $0.status == .contradiction || $0.status == .held || $0.status == .taken
        },
        own("own.done", .done) { $0.status == .asAsked },
        own("own.unconfirmed", .quarantine(.unconfirmed)) { $0.status == .pending && $0.isUnconfirmed },
        own("own.undecided", .keep) { $0.status == .pending || $0.status == .unavailable },
        own("own.undo-lagging", .awaitVisibility) {
            // A read within the lag may show what was before.
            $0.purpose == .undo && $0.isRefusal && $0.visibility == .lagging
        },
        own("own.undo-refused", .quarantine(.undoRefused)) { $0.purpose == .undo && $0.isRefusal },
        own("own.gone", .gone(.status)) { $0.status.isGoneForGood },
        own("own.capture-declined", .goneAfterUndo) { $0.purpose == .capture && $0.status == .declinedUnbound },
        // Nothing that the provider shows from now on tells what became of it.
        own("own.refund-forgotten", .quarantine(.refundInDoubt)) {
            $0.isRefusedRefund && !$0.lifeIsOver && $0.memory == .mayBeLost && $0.visibility != .lagging
        },
        own("own.refund-declined", .gone(.status)) {
            $0.status == .declinedUnbound && $0.lifeIsOver && $0.declinesStay
        },
        own("own.refund-declined-await-life", .awaitLife) { $0.status == .declinedUnbound && $0.declinesStay },
        own("own.refund-declined-may-change", .quarantine(.refundInDoubt)) { $0.status == .declinedUnbound },
    ]

    /// No request had an effect so far.
    private static let unsentOwnKeyRows: [Row] = [
        own("own.resend-await-listing", .awaitListing) { $0.mayNotLearn },
        own("own.recovery-ask-first", .inquire) {
            $0.worst <= .throttled && $0.trust != .trusted && $0.status == .notAsked && !$0.isLearnedByResend
        },
        own("own.recovery-compare-first", .awaitListing) {
            $0.worst <= .throttled && $0.trust == .recovering && $0.age == .past
        },
        // A refund that nobody has sent and nobody will: its caller asks again once the dispute is over.
        own("own.refund-disputed", .gone(.neverSent)) {
            $0.purpose == .refund && $0.isDisputed && $0.worst <= .unsent && ($0.trust == .trusted || $0.lifeIsOver)
        },
        own("own.disputed", .awaitDispute) { $0.isDisputed && $0.worst <= .throttled },
        own("own.first", .sendFirst) { $0.worst == .none },
        own("own.had-no-effect", .sendAgain) { $0.worst == .unsent || $0.worst == .throttled && $0.age == .safe },
    ]

    /// The provider cannot be asked, and nobody knows what became of it: the same request tells.
    private static let resentOwnKeyRows: [Row] = [
        own("own.resend-disputed", .awaitDispute) { $0.isLearnedByResend && $0.isDisputed },
        own("own.resend-to-ask", .sendAgain) { $0.isLearnedByResend && $0.age == .safe },
        own("own.resend-too-old", .quarantine(.keyTooOld)) { $0.isLearnedByResend },
    ]

    /// Nothing but refusals and declines so far, and the status does not show it.
    private static let refusedOwnKeyRows: [Row] = [
        own("own.refused", .gone(.refused)) {
            $0.worst == .refused && $0.trust == .trusted && $0.refusedForGood && $0.status != .denied
        },
        own("own.declined", .gone(.status)) { $0.worst == .declined && $0.declinesBound },
        own("own.capture-refused-and-may-change", .goneAfterUndo) {
            $0.purpose == .capture && ($0.worst == .refused || $0.worst == .declined)
        },
        own("own.refund-denied", .quarantine(.refundInDoubt)) {
            $0.purpose == .refund && ($0.worst == .refused || $0.worst == .declined) && $0.status == .denied
                && $0.lifeIsOver && $0.visibility != .lagging
        },
        own("own.refund-refused", .gone(.neverHappened)) {
            ($0.worst == .refused || $0.worst == .declined) && $0.status == .notFound && $0.lifeIsOver
                && $0.visibility != .lagging
        },
        own("own.refund-refused-await-life", .awaitLife) { $0.worst == .refused || $0.worst == .declined },
    ]
}

extension EffectFacts {
    /// Whether it is a refund that was refused or declined, is not shown as done, and may yet be executed by a copy of
    /// a request.
    fileprivate var isRefusedRefund: Bool {
        guard purpose == .refund, [.notFound, .denied, .declinedUnbound].contains(status) else { return false }
        if worst == .refused, trust == .trusted, refusedForGood { return false }
        if worst == .declined, declinesBound { return false }
        return status == .declinedUnbound || lastRefused || worst == .refused || worst == .declined
    }

    /// Whether an undoing was refused where no inquiry can tell why. The charge itself may be in doubt (seed
    /// 15397200633613).
    fileprivate var isRefusedUnasked: Bool {
        isAskedByResend && purpose == .undo && lastRefused && refusalNamesKey
    }

    /// Whether an answer said that it is done.
    fileprivate var isSaidToBeDone: Bool { worst == .accepted || wasAccepted }

    /// Whether it cannot be had as it stands: shown as over or declined, or only ever refused and not shown.
    fileprivate var isRefusal: Bool {
        if status.isGoneForGood || status == .declinedUnbound { return true }
        return worst == .refused || worst == .declined
    }
}
