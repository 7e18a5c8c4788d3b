// An explanation in sentences, for people. What is said is in the values beside it; nothing is decided here.

extension PaymentExplanation {
    /// Why the payment is in its state, in a sentence or two.
    public var sentences: [String] {
        var said: [String] = []
        if let conclusion = payment.conclusion {
            let reason = conclusion.reason.map { " (\($0.code.rawValue)\($0.detail.map { ": \($0)" } ?? ""))" } ?? ""
            said.append("It ended as \(conclusion.state.rawValue) at \(conclusion.at.rfc3339)\(reason).")
        } else {
            said.append("It is \(payment.state.rawValue): \(direction).")
            if let decision { said.append("Row \(decision.verdict.row): \(Self.words(decision.verdict.decision)).") }
        }
        if let recovery = payment.recovery {
            let moment = recovery.readsCountFrom.rfc3339
            said.append("Rows of it may be lost: what the provider said before \(moment) does not count.")
        }
        if payment.conclusion == nil, payment.latch == .none, payment.heldAt == nil {
            let isPast = payment.deadline <= at
            said.append("Its deadline \(isPast ? "was" : "is") \(payment.deadline.rfc3339).")
        }
        if let nextLook {
            said.append(
                nextLook <= at
                    ? "It is due now." : "It is looked at again at \(nextLook.rfc3339), or when something is heard.")
        }
        return said
    }

    private var direction: String {
        switch payment.latch {
        case .none where payment.stopReason != nil: "it is to be turned back"
        case .none where payment.heldAt != nil: "everything is held, and its caller captures or cancels"
        case .none: "it is not decided yet whether it goes forward or back"
        case .forward: "it goes forward, everything is to be taken"
        case .back: "it goes back, nothing shall stand"
        case .compensate: "a capture could not be had, so what was taken is given back"
        }
    }

    private static func words(_ decision: PaymentDecision) -> String {
        switch decision {
        case .latch(let latch): "its direction becomes \(latch.rawValue)"
        case .readAll: "every leg is read before anything is decided"
        case .authorize(let legs): "\(Self.legs(legs)) shall be held"
        case .sell(let leg): "leg \(leg) shall be taken, everything else is held"
        case .capture(let legs): "\(Self.legs(legs)) shall be captured, or released"
        case .undo(let legs): "\(Self.legs(legs)) shall be undone"
        case .rest: "it rests until its caller captures or cancels, or the hold ends"
        case .adoptCapture: "the capture that was found is taken into the books"
        case .awaitCapture(let legs):
            "\(Self.legs(legs, "was", "were")) captured by a request that is lost; its caller has to repeat it"
        case .leaveToPeople(let legs):
            "\(Self.legs(legs, "was", "were")) captured by nobody that the books know; people decide"
        case .missing(let legs):
            "\(Self.legs(legs, "is", "are")) denied although another leg was captured; people decide"
        case .conclude(let ending): "it ends: \(ending.rawValue)"
        case .wait: "nothing can be done before people, or a standby's acknowledgement, let it go on"
        }
    }

    /// Names legs, with the verb that goes with one or with several.
    private static func legs(_ legs: [Int], _ one: String = "", _ several: String = "") -> String {
        let names = legs.map { String($0) }.joined(separator: ", ")
        let verb = legs.count == 1 ? one : several
        return (legs.count == 1 ? "leg " : "legs ") + names + (verb.isEmpty ? "" : " \(verb)")
    }
}

extension LegExplanation {
    /// What is known of it, and what it waits for, in sentences.
    public var sentences: [String] {
        [known, disputed, attempts, decided, waits].compactMap(\.self)
    }

    private var disputed: String? {
        let open = leg.openDisputes.map { "\($0.id) of \($0.amount)" }.joined(separator: ", ")
        return open.isEmpty ? nil : "Its payer disputes the charge (\(open)): nothing is given back meanwhile."
    }

    private var known: String {
        if let gone = leg.gone { return "It does not stand, for good: \(Self.words(gone))." }
        guard let knowledge = leg.knowledge else {
            return "Nothing was read of it since the last request that could have changed it."
        }
        guard knowledge.reason != Leg.Gone.byPeople else {
            return "Two people decided at \(knowledge.began.rfc3339) that it was taken."
        }
        let code = knowledge.reason.map { " (\($0))" } ?? ""
        let source = knowledge.source == .inquiry ? "a read that began" : "the answer to a request that was sent"
        return "The provider showed it as \(knowledge.status.rawValue)\(code), in \(source) at "
            + "\(knowledge.began.rfc3339)."
    }

    private static func words(_ gone: Leg.Gone) -> String {
        switch gone.cause {
        case _ where gone.code == Leg.Gone.byPeople: "two people decided so"
        case _ where gone.code == Leg.Gone.writtenOff: "two people wrote it off"
        case .status: gone.status.map { "the provider showed it as \($0.rawValue)" } ?? "people said so"
        case .refused: "its only request was refused as wrong"
        case .neverSent: "nothing was ever sent"
        case .neverHappened: "no request can be executed any more, and none was"
        }
    }

    private var attempts: String? {
        guard let effect, effect.attempts > 0, effect.open == nil else { return nil }
        let times = effect.attempts == 1 ? "once" : "\(effect.attempts) times"
        let last = effect.lastIntentAt.map { ", last at \($0.rfc3339)" } ?? ""
        let outcome = effect.lastCode.map { ", and ended with \($0)" } ?? ""
        return "Its \(Self.name(decision?.effect ?? .primary, leg)) was sent \(times)\(last)\(outcome); "
            + "at worst \(Self.words(effect.worst))."
    }

    private static func words(_ worst: WorstAttempt) -> String {
        switch worst {
        case .none, .unsent: "it provably did not leave"
        case .throttled: "it was asked to slow down"
        case .refused: "it was refused as wrong"
        case .declined: "it was declined"
        case .accepted: "it was accepted"
        case .indeterminate: "nobody knows what became of it"
        }
    }

    /// What an effect is called.
    public static func name(_ reference: EffectReference, _ leg: Leg) -> String {
        switch reference {
        case .primary: leg.isOnePhase ? "sale" : "authorization"
        case .capture: "capture"
        case .void: "void"
        case .compensation: "refund that undoes it"
        case .refund: "refund"
        }
    }

    private var decided: String? {
        guard let decision else { return nil }
        let what = Self.name(decision.effect, leg)
        return "Row \(decision.verdict.row), about its \(what): \(Self.words(decision.verdict.decision))."
    }

    private static func words(_ decision: EffectDecision) -> String {
        switch decision {
        case .done: "it is as it was asked for"
        case .gone: "it will never be there, or is there no more"
        case .goneAfterUndo: "it is lost to the payment, and may yet appear: it is undone"
        case .keep: "the provider has not decided, or cannot be asked"
        case .inquire: "its status is asked for before anything is sent"
        case .awaitListing: "both sides' listings are compared before anything is sent"
        case .awaitCaller: "its caller asks again, or its deadline passes"
        case .awaitVisibility: "it is read again once a read cannot be stale"
        case .awaitProof: "it is read again once the provider refuses whatever was sent"
        case .awaitLife: "it is read again once no request can be alive any more"
        case .awaitAcknowledgement: "the payment's direction is not on the standby yet"
        case .awaitDispute:
            "nothing is given back while the payer's dispute is open; it is read again until that is over"
        case .sendFirst: "it is sent for the first time"
        case .sendAgain: "the same request is sent again, under the same key"
        case .void: "the hold is released"
        case .refund: "what was taken is given back"
        case .cancel: "its key is canceled, so that it can never be used"
        case .plug: "the same request is sent again, so that it can be undone"
        case .quarantine(let cause): "no safe way is left (\(cause.rawValue)); people decide"
        }
    }

    private var waits: String? {
        switch wait {
        case .nothing: nil
        case .answer(let effect, let attempt, let since):
            "Attempt \(attempt) of its \(Self.name(effect, leg)) has been under way since \(since.rfc3339). Whoever "
                + "sent it waits for the answer; if that daemon is gone, another takes the payment over and asks."
        case .payment: "It waits for the other legs."
        case .step: "That is due now."
        case .moment(_, let moment): "That happens at \(moment.rfc3339)."
        case .event(let decision): "It waits for \(Self.event(decision))."
        case .people(let cause, let row, let since):
            "People decide about it since \(since.rfc3339): \(Self.words(cause)) (\(cause.rawValue), row \(row))."
        case .configuration(.notConfigured): "It waits: no provider of this name is configured."
        case .configuration(.otherKeySpace(_, let its, let configured)):
            "It waits: it was sent in the key space \(its), and the provider is configured with \(configured), where "
                + "its keys are unknown."
        }
    }

    private static func event(_ decision: EffectDecision) -> String {
        switch decision {
        case .awaitListing: "a comparison of both sides over the time in which rows were lost"
        case .awaitCaller: "its caller, who repeats the request, or for the deadline"
        default: "the standby to confirm the payment's direction"
        }
    }

    private static func words(_ cause: QuarantineCause) -> String {
        switch cause {
        case .contradiction: "the provider's answer differs from what was asked in key, amount, currency or merchant"
        case .acceptedButMissing: "the provider accepted it, and does not know it"
        case .keyTooOld: "the provider does not show it, and may have forgotten the key"
        case .unconfirmed: "the provider received the request, and never told how it ended"
        case .undoImpossible: "it must be undone, and the provider offers no safe way"
        case .undoRefused: "what must undo it was refused"
        case .captureRequestLost: "it was captured by nobody that the books know"
        case .refundInDoubt: "nobody can tell whether a refund was made"
        }
    }
}
