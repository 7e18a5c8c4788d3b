/// One part of a payment: an amount at one provider, from one instrument.
public struct Leg: Sendable, Hashable {
    /// Why a leg does not stand, and will not.
    public struct Gone: Sendable, Hashable, Codable {
        /// The cause.
        public var cause: GoneCause
        /// The provider's status at that time.
        public var status: Observation.Status?
        /// The provider's short code.
        public var code: String?
        /// Whether money was taken before, and given back: it was compensated.
        public var isGivenBack = false

        /// Whether it was given back is a name of the leg's document.
        private enum CodingKeys: String, CodingKey { case cause, status, code }
    }

    /// What cannot be had of a leg any more, and why.
    public enum Loss: Sendable, Hashable {
        /// Its hold or its sale: it was declined, refused or turned back. The payment turns back.
        case primary(Reason)
        /// Its capture, after its hold stood. The payment is compensated.
        case capture(Reason)

        /// Why.
        public var reason: Reason {
            switch self {
            case .primary(let reason), .capture(let reason): reason
            }
        }
    }

    /// Why people must decide, since when.
    public struct Quarantine: Sendable, Hashable, Codable {
        /// The cause.
        public var cause: QuarantineCause
        /// Which effect it is about.
        public var effect: EffectReference
        /// The row of the table that found no safe way.
        public var row: String
        /// Since when.
        public var since: Timestamp
        /// Inquiries in a row that show what was asked, where the quarantine may end by them; `nil` where only people
        /// end it.
        public internal(set) var agreeing: Agreement? = nil
    }

    /// Reads in a row that contradict nothing.
    public struct Agreement: Sendable, Hashable, Codable {
        /// How many.
        public internal(set) var reads: Int
        /// When the first of them began; `nil` before it.
        public internal(set) var since: Timestamp?
        /// What all of them showed; `nil` before the first.
        public internal(set) var status: Observation.Status?

        /// None yet.
        public static let none = Agreement(reads: 0, since: nil, status: nil)
    }

    /// Its place in the payment, from 0.
    public let index: Int
    /// The provider.
    public let provider: ProviderName
    /// What is charged there.
    public let instrument: Instrument
    /// The amount.
    public let amount: Money
    /// Whether the provider takes money in one step.
    public let isOnePhase: Bool
    /// The same as a contract says it.
    var phases: ProviderContract.Phases { isOnePhase ? .sale : .authorizeCapture }

    /// The authorization or the sale.
    public internal(set) var primary: Effect
    /// The capture, once it was decided.
    public internal(set) var capture: Effect?
    /// The void or cancel, once it was decided.
    public internal(set) var void: Effect?
    /// The refund that undoes a capture, once it was decided.
    public internal(set) var compensation: Effect?
    /// What the provider said since the last request that could have changed it.
    public internal(set) var knowledge: Observation?
    /// Reads since the last request that could not be stale.
    public internal(set) var conclusiveReads: Int
    /// Inquiries since it was last certain.
    public internal(set) var inquiries: Int
    /// Nothing is done about it before this moment.
    public internal(set) var notBefore: Timestamp?
    /// What cannot be had of it any more.
    public internal(set) var loss: Loss?
    /// It provably does not stand.
    public internal(set) var gone: Gone?
    /// What was captured, once it was seen.
    public internal(set) var capturedAmount: Money
    /// People must decide.
    public internal(set) var quarantine: Quarantine?
    /// The payment that the provider's transaction names, where that is not the leg's own: the transaction was made for
    /// another payment, and is undone here.
    public internal(set) var named: PaymentID? = nil

    /// When it was seen held or taken first, on rows that are trusted. What was seen so is never declined.
    public internal(set) var standsSince: Timestamp? = nil
    /// Until when its hold lasts, by the provider's word, whatever was read since.
    public internal(set) var holdEnds: Timestamp? = nil
    /// Since when a read is wanted, whatever the rows call for: a comparison found a difference.
    public internal(set) var readWantedSince: Timestamp? = nil
    /// The disputes of its charge that the provider showed last, also those that are over; `nil` for none.
    public internal(set) var disputes: [Dispute]? = nil

    /// The key space in which its first request was sent; `nil` before that, and in rows that did not note it.
    public internal(set) var keySpace: KeySpace? = nil

    /// The disputes that nobody has decided.
    public var openDisputes: [Dispute] { (disputes ?? []).filter { $0.state == .open } }

    /// Whether what was taken was given back, and that is confirmed.
    public var isCompensated: Bool { gone?.isGivenBack ?? false }

    /// Whether its hold or its sale cannot be had any more.
    public var isLost: Bool { if case .primary = loss { true } else { false } }

    /// Whether its capture cannot be had any more.
    public var isCaptureLost: Bool { if case .capture = loss { true } else { false } }

    /// What is known, where it may be believed.
    func believed(in recovery: RecoveryWindow?) -> Observation? {
        guard let recovery, let knowledge else { return knowledge }
        guard knowledge.began >= recovery.readsCountFrom else { return nil }
        // An answer may be the replay of an earlier one, but what is voided or tombstoned stays so.
        let isForGood = knowledge.status == .voided || knowledge.status == .tombstoned
        return knowledge.source == .inquiry || isForGood ? knowledge : nil
    }

    /// Held as asked.
    func isHeld(inRecovery recovery: RecoveryWindow?) -> Bool {
        guard quarantine == nil, gone == nil, !isLost, let known = believed(in: recovery) else { return false }
        return !isOnePhase && known.status == .authorized && !StatusReading.contradicts(known, leg: self)
    }

    /// The effect that `reference` names.
    func effect(_ reference: EffectReference) -> Effect? {
        switch reference {
        case .primary: primary
        case .capture: capture
        case .void: void
        case .compensation: compensation
        case .refund: nil
        }
    }
}

/// Which effect of a leg is meant.
public enum EffectReference: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The authorization or sale.
    case primary
    /// The capture.
    case capture
    /// The void or cancel.
    case void
    /// The refund that undoes a capture.
    case compensation
    /// The refund asked for at this place in the payment's list.
    case refund(Int)

    /// What it is for, where it has a key of its own.
    var purpose: EffectPurpose? {
        switch self {
        case .primary: nil
        case .capture: .capture
        case .void, .compensation: .undo
        case .refund: .refund
        }
    }

    public var description: String {
        switch self {
        case .primary: "primary"
        case .capture: "capture"
        case .void: "void"
        case .compensation: "compensation"
        case .refund(let index): "refund \(index)"
        }
    }
}
