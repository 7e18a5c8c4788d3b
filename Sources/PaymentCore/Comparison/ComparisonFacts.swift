/// What the comparison table looks at: one position from both sides.
public struct ComparisonFacts: Sendable, Hashable {
    /// What our books say.
    public enum Ours: String, Sendable, Hashable, CaseIterable {
        /// No leg has this key.
        case unknown
        /// ``BookedPosition/Standing/undecided``
        case undecided
        /// ``BookedPosition/Standing/held``
        case held
        /// ``BookedPosition/Standing/taken``
        case taken
        /// ``BookedPosition/Standing/givenBack``
        case givenBack
        /// ``BookedPosition/Standing/ended``
        case ended
    }

    /// Whom a transaction names that has no key of ours.
    public enum Naming: String, Sendable, Hashable, CaseIterable {
        /// Nobody of ours.
        case nobody
        /// A payment that our books do not know, or a leg that the payment does not have there.
        case lostLeg
        /// A leg of ours that has another transaction.
        case otherTransaction
        /// A payment that was ours, and was pruned long after it had ended.
        case prunedPayment
        /// Another store.
        case otherStore
    }

    /// What the provider shows.
    public enum Theirs: String, Sendable, Hashable, CaseIterable {
        /// Nothing.
        case absent
        /// It is not decided.
        case pending
        /// An amount is held.
        case held
        /// An amount was taken, and not all of it given back.
        case taken
        /// It was voided, or all of it was given back.
        case reversed
        /// Declined, expired or tombstoned.
        case ended
    }

    /// How the amounts of the hold or sale compare.
    public enum Amount: String, Sendable, Hashable, CaseIterable {
        /// The same, or there are not two to compare.
        case same
        /// They differ.
        case differs
        /// Their currencies differ.
        case currencyDiffers
    }

    /// How the refunds compare, where both sides took something.
    public enum Refunds: String, Sendable, Hashable, CaseIterable {
        /// The same.
        case same
        /// One of ours is not there, or is of another amount.
        case oursDiffer
        /// All of ours are there as we know them, and others besides.
        case othersToo
    }

    /// What our books say.
    public var ours: Ours
    /// Who is still at work on our side.
    public var work: BookedPosition.Work
    /// Whom it names; matters only where ours is unknown.
    public var naming: Naming
    /// What the provider shows.
    public var theirs: Theirs
    /// Whether what it shows can be what was asked for.
    public var isReadable: Bool
    /// How the amounts compare.
    public var amount: Amount
    /// Whether as much was taken there as here.
    public var capturedSame: Bool
    /// How the refunds compare.
    public var refunds: Refunds
    /// Whether a side changed so lately that the other may not show it yet.
    public var isYoung: Bool
    /// Whether the listing withholds what the provider shows to whoever asks for the key.
    public var isHidden: Bool
    /// Whether more than one transaction under the key holds or took money.
    public var isDoubled: Bool
    /// Whether the provider, asked for the key, denies money that its listing showed.
    public var isDenied: Bool

    /// Facts of two sides that agree as far as they can.
    public init(ours: Ours, theirs: Theirs) {
        self.ours = ours
        self.theirs = theirs
        work = .none
        naming = .nobody
        isReadable = true
        amount = .same
        capturedSame = true
        refunds = .same
        isYoung = false
        isHidden = false
        isDoubled = false
        isDenied = false
    }
}

extension ComparisonFacts {
    /// What surrounds the two sides when they are compared.
    public struct Surroundings: Sendable, Hashable {
        /// What changed at or after this moment is too young to be judged.
        public var horizon: Timestamp
        /// Whether the provider shows refunds one by one.
        public var refundVisibility: ProviderContract.RefundVisibility
        /// Whether the listing withholds it.
        public var isHidden: Bool
        /// Whether the payment that it names was ours and was pruned.
        public var isPruned: Bool
        /// Whether the provider, asked for the key, denies money that its listing showed.
        public var isDenied = false
        /// Whose comparison it is; `nil` where the store has no identity.
        public var store: StoreID?

        /// Surroundings.
        public init(
            horizon: Timestamp, refundVisibility: ProviderContract.RefundVisibility = .byKey, isHidden: Bool = false,
            isPruned: Bool = false
        ) {
            self.horizon = horizon
            self.refundVisibility = refundVisibility
            self.isHidden = isHidden
            self.isPruned = isPruned
        }
    }

    /// The facts of two sides.
    ///
    /// - Parameters:
    ///   - ours: what our books say; `nil` if they have nothing under the key.
    ///   - named: the leg that a transaction names whose key is not ours.
    ///   - theirs: what the provider shows; `nil` if it shows nothing.
    ///   - surroundings: what is known beside both sides.
    public init(
        ours: BookedPosition?, named: BookedPosition?, theirs: ListedPosition?, in surroundings: Surroundings
    ) {
        self.init(ours: ComparisonFacts.ours(ours), theirs: ComparisonFacts.theirs(theirs))
        work = ours?.work ?? .none
        if ours == nil {
            let lost = surroundings.isPruned ? Naming.prunedPayment : .lostLeg
            naming = named != nil ? .otherTransaction : theirs?.payment != nil ? lost : .nobody
        }
        let isOthers = theirs?.store.map { $0 != surroundings.store && surroundings.store != nil } ?? false
        if ours == nil, isOthers { naming = .otherStore }
        // Two stores that took the same key: nothing of it may be believed.
        isReadable = theirs?.contradiction == nil && !isOthers
        isHidden = surroundings.isHidden && theirs != nil
        isYoung =
            (ours?.updatedAt ?? named?.updatedAt).map { $0 >= surroundings.horizon } ?? false
            || theirs?.lastChange.map { $0 >= surroundings.horizon } ?? false
        isDoubled = theirs?.isDoubled ?? false
        isDenied = surroundings.isDenied
        guard let ours, let theirs else { return }
        if let shown = theirs.amount, shown != ours.amount {
            amount = shown.currency == ours.amount.currency ? .differs : .currencyDiffers
        }
        guard theirs.status == .captured, !ours.captured.isZero, let captured = theirs.captured else { return }
        capturedSame = captured == ours.captured
        refunds = ComparisonFacts.refunds(ours, theirs, surroundings.refundVisibility)
    }

    private static func ours(_ position: BookedPosition?) -> Ours {
        switch position?.standing {
        case nil: .unknown
        case .undecided: .undecided
        case .held: .held
        case .taken: .taken
        case .givenBack: .givenBack
        case .ended: .ended
        }
    }

    private static func theirs(_ position: ListedPosition?) -> Theirs {
        guard let position else { return .absent }
        switch position.status {
        case .notFound, .unavailable: return .absent
        case .pending: return .pending
        case .authorized: return .held
        case .declined, .tombstoned, .expired: return .ended
        case .voided: return .reversed
        case .captured:
            guard let net = position.line.net, !(position.captured?.isZero ?? true) else { return .taken }
            return net.value == 0 ? .reversed : .taken
        }
    }

    private static func refunds(
        _ ours: BookedPosition, _ theirs: ListedPosition, _ visibility: ProviderContract.RefundVisibility
    ) -> Refunds {
        if ours.refunds.isEmpty, theirs.refunds.isEmpty { return .same }
        if visibility == .sumsOnly {
            let shown = theirs.refunded?.value ?? 0
            return shown == ours.refunded.value ? .same : shown < ours.refunded.value ? .oursDiffer : .othersToo
        }
        let shown = Dictionary(theirs.refunds.map { ($0.key, $0.amount) }, uniquingKeysWith: { first, _ in first })
        guard ours.refunds.allSatisfy({ shown[$0.key] == $0.amount }) else { return .oursDiffer }
        return theirs.refunds.count == ours.refunds.count ? .same : .othersToo
    }
}
