/// When money is taken.
public enum CaptureMode: String, Sendable, Hashable, Codable {
    /// As soon as everything is held.
    case automatic
    /// When the caller says so.
    case manual
}

/// The state that a caller sees.
public enum PaymentState: String, Sendable, Hashable, Codable, CaseIterable {
    /// Settling.
    case processing
    /// The payer has to do something, which the caller shows.
    case requiresAction = "requires_action"
    /// Held; the caller captures or cancels.
    case authorized
    /// Taken as asked. Final.
    case succeeded
    /// Being turned back.
    case canceling
    /// Turned back because the caller asked, or because the hold ran out. Final.
    case canceled
    /// Turned back because it could not be had. Final.
    case failed
    /// People decide about at least one leg.
    case quarantined

    /// Whether the state never changes again.
    public var isFinal: Bool { self == .succeeded || self == .canceled || self == .failed }

    /// Whether its end is ours to bring about. A hold waits for the caller's capture, and a step for the payer.
    public var isUnsettled: Bool { !isFinal && self != .authorized && self != .requiresAction }
}

/// Why a payment is where it is.
public struct Reason: Sendable, Hashable, Codable {
    /// The stable codes.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// A provider refused for a business reason.
        case declined
        /// A provider called a request wrong.
        case refused
        /// The caller asked.
        case canceledByCaller = "canceled_by_caller"
        /// It was not complete by its deadline.
        case deadlinePassed = "deadline_passed"
        /// The hold ran out before the caller captured it.
        case authorizationExpired = "authorization_expired"
        /// A hold was voided before the caller captured it, and not by a request of which our rows tell.
        case authorizationVoided = "authorization_voided"
        /// A leg was undone at the provider by somebody else, or can no longer be had.
        case legLost = "leg_lost"
        /// A capture could no longer be had; what was taken was given back.
        case captureUnavailable = "capture_unavailable"
        /// People decide.
        case quarantined

        /// Whether what ends by it was canceled, and did not fail: its caller could have captured it until then.
        var isCancel: Bool {
            switch self {
            case .canceledByCaller, .authorizationExpired, .authorizationVoided: true
            case .declined, .refused, .deadlinePassed, .legLost, .captureUnavailable, .quarantined: false
            }
        }
    }

    /// The code.
    public var code: Code
    /// More words, without secrets.
    public var detail: String?

    /// A reason.
    public init(_ code: Code, detail: String? = nil) {
        self.code = code
        self.detail = detail
    }
}

/// How a payment ended.
public struct Conclusion: Sendable, Hashable, Codable {
    /// The final state.
    public var state: PaymentState
    /// Why, unless it succeeded.
    public var reason: Reason?
    /// When.
    public var at: Timestamp
}

/// What the caller asked for once, and all that is known of it. A value: it changes only through ``PaymentMachine``.
public struct Payment: Sendable, Hashable, Codable {
    /// The identifier, derived from caller and key.
    public let id: PaymentID
    /// Whose it is.
    public let caller: CallerID
    /// The caller's key of the create operation.
    public let key: IdempotencyKey
    /// The whole amount.
    public let amount: Money
    /// When money is taken.
    public let captureMode: CaptureMode
    /// The caller's own reference.
    public let reference: String?
    /// The caller's own data.
    public let metadata: [String: String]
    /// Until when it must be complete (or held, with manual capture).
    public let deadline: Timestamp
    /// When it was created.
    public let createdAt: Timestamp

    /// When it changed last.
    public internal(set) var updatedAt: Timestamp
    /// Raised by one with every change; a write names the version that it read.
    public internal(set) var version: Int64
    /// The legs, in the caller's order.
    public internal(set) var legs: [Leg]
    /// The durable decision.
    public internal(set) var latch: Latch
    /// Whether the latch is acknowledged by every store that must keep it.
    public internal(set) var latchAcknowledged: Bool
    /// Why it was turned back, once it was.
    public internal(set) var stopReason: Reason?
    /// The caller's cancel.
    public internal(set) var cancel: CancelRequest?
    /// The caller's capture.
    public internal(set) var capture: CaptureRequest?
    /// When everything was held for its caller first. Its deadline was met then, and ends it no more.
    public internal(set) var heldAt: Timestamp? = nil
    /// Where the payer is sent back to after a step at the provider; `nil` where the payer is not present.
    public internal(set) var returnURL: WebAddress? = nil
    /// When a provider first asked for a step of the payer.
    public internal(set) var actionAskedAt: Timestamp? = nil
    /// Refunds that were asked for, in order.
    public internal(set) var refunds: [Refund]
    /// Refunds whose rows were lost, and that a comparison found; `nil` where there is none.
    public internal(set) var foundRefunds: [FoundRefund]? = nil
    /// Set while such refunds are looked for.
    public internal(set) var refundSearch: RefundSearch? = nil
    /// How it ended.
    public internal(set) var conclusion: Conclusion?
    /// Set while its rows are untrusted: until it ended, and after that as long as a refund of it is under way.
    public internal(set) var recovery: RecoveryWindow?
    /// When something is to be done next; `nil` when nothing is.
    public internal(set) var dueAt: Timestamp?
    /// The provider of the leg that is due first.
    public internal(set) var dueProvider: ProviderName?
    /// The newest entry of its audit trail.
    public internal(set) var auditHead: AuditHead

    /// The effects that are tried again and again without an end, and that are still wanted: people were told of each.
    public var troubled: [(leg: Int, effect: EffectReference, since: Timestamp)] {
        var found: [(leg: Int, effect: EffectReference, since: Timestamp)] = []
        for leg in legs where conclusion == nil || leg.gone == nil && conclusion?.state != .succeeded {
            for reference in [EffectReference.primary, .capture, .void, .compensation] {
                guard let since = leg.effect(reference)?.troubledSince else { continue }
                found.append((leg.index, reference, since))
            }
        }
        for (refundIndex, refund) in refunds.enumerated() {
            for part in refund.parts where part.state == .processing {
                guard let since = part.effect.troubledSince else { continue }
                found.append((part.leg, .refund(refundIndex), since))
            }
        }
        return found
    }

    /// The state that the caller sees.
    public var state: PaymentState {
        if let conclusion { return conclusion.state }
        if legs.contains(where: { $0.quarantine != nil }) { return .quarantined }
        switch latch {
        case .none:
            if isResting { return .authorized }
            return payerStep == nil ? .processing : .requiresAction
        case .forward: return .processing
        case .back: return .canceling
        case .compensate: return .canceling
        }
    }

    /// Where the payer goes next, and the leg that waits for that, the first of those that do; `nil` where nothing
    /// waits for a payer, or where no address is known.
    public var payerStep: (leg: Leg, url: WebAddress)? {
        guard latch == .none, conclusion == nil, stopReason == nil else { return nil }
        for leg in legs {
            guard let known = leg.believed(in: recovery), known.awaitsPayer, let url = known.payerAction?.url else {
                continue
            }
            return (leg, url)
        }
        return nil
    }

    /// Everything is held, and it is the caller's turn.
    public var isResting: Bool {
        latch == .none && conclusion == nil && captureMode == .manual && capture == nil && stopReason == nil
            && legs.allSatisfy { $0.isHeld(inRecovery: recovery) }
    }

    /// Whether rows were lost, and what the providers say now is not known of every leg: what the row shows may be
    /// older than what its caller was told. A leg that people decide about was read.
    public var isBeingConfirmed: Bool {
        guard let recovery, conclusion == nil, !legs.contains(where: { $0.quarantine != nil }) else { return false }
        switch latch {
        case .none:
            return legs.contains {
                guard let known = $0.believed(in: recovery) else { return true }
                return known.status == .unavailable || known.status == .pending && !known.awaitsPayer
            }
        case .forward: return true
        case .back, .compensate: return false
        }
    }

    /// Whether what had no effect so far is begun only when the caller asks again, because what it was told may be
    /// lost. At the deadline it is given up.
    public var awaitsCaller: Bool {
        guard let recovery, recovery.repetition == .awaited, conclusion == nil, latch == .none else { return false }
        return !isBeingConfirmed && legs.contains { $0.gone == nil && $0.believed(in: recovery)?.status == .notFound }
    }

    /// Whether a lost row may have sent a capture or a refund. Where acknowledged rows are kept it is in the rows, or
    /// has not left.
    var mayHaveLostRequests: Bool { recovery?.repetition != nil }

    /// Whether money that was taken is being given back, as its caller asked, or whether it was is being read.
    public var hasRefundUnderWay: Bool {
        guard conclusion?.state == .succeeded else { return false }
        return refunds.contains { $0.parts.contains { $0.state == .processing } } || refundSearch != nil
    }

    /// Whether an answer of a provider could change anything: it is not settled, or a refund is under way.
    public var awaitsProvider: Bool { conclusion == nil && !isResting || hasRefundUnderWay }

    /// Why the payment is where it is, if there is anything to say.
    public var reason: Reason? {
        if let conclusion { return conclusion.reason }
        if let quarantined = legs.first(where: { $0.quarantine != nil }), let cause = quarantined.quarantine {
            return Reason(.quarantined, detail: "leg \(quarantined.index): \(cause.cause.rawValue)")
        }
        return stopReason
    }

    /// What was taken at the providers, as far as is known.
    public var captured: Money { total(legs.map(\.capturedAmount)) }

    /// What was given back, asked for or not.
    public var refunded: Money { total(legs.map { refundedAmount(ofLeg: $0.index) }) }

    /// What was given back of one leg.
    public func refundedAmount(ofLeg index: Int) -> Money {
        let currency = amount.currency
        var parts = refunds.compactMap { refund in
            refund.parts.first { $0.leg == index && $0.state == .succeeded }?.effect.amount
        }
        parts += refundsFound(ofLeg: index).map(\.amount)
        if let leg = legs.first(where: { $0.index == index }), leg.isCompensated { parts.append(leg.capturedAmount) }
        return total(parts, currency: currency)
    }

    /// What may still be refunded of one leg: what was captured less every refund that did not fail or was found.
    public func refundableAmount(ofLeg index: Int) -> Money {
        guard let leg = legs.first(where: { $0.index == index }) else { return .zero(amount.currency) }
        let asked = refunds.compactMap { refund in
            refund.parts.first { $0.leg == index && $0.state != .failed }?.effect.amount
        }
        let reserved = asked + refundsFound(ofLeg: index).map(\.amount)
        do {
            return try leg.capturedAmount.subtracting(total(reserved, currency: amount.currency))
        } catch {
            return .zero(amount.currency)
        }
    }

    private func total(_ amounts: [Money], currency: Currency? = nil) -> Money {
        do {
            return try Money.sum(amounts, in: currency ?? amount.currency)
        } catch {
            // Parts are bounded by the payment's own amount, which was checked; a total beyond it is not shown.
            return amount
        }
    }
}
