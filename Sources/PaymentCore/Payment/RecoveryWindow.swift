/// Rows are untrusted: a promotion that is not proven complete, or a restore.
///
/// A payment in a window is read at every provider before anything is decided about it. The window says from when such
/// reads count, and until when a request of which no row tells may still be executed.
public struct RecoveryWindow: Sendable, Hashable, Codable {
    /// Reads that began before this moment prove nothing.
    public var readsCountFrom: Timestamp
    /// The latest `not_after` that may ever have been issued by the lost rows' owner (C27).
    public var latestNotAfter: Timestamp
    /// Whether the two sides' listings over the window were compared.
    public var listingCompared: Bool
    /// Whether the caller has to ask again before anything is begun for it; `nil` if what it was told is in the rows.
    public var repetition: Repetition?

    /// What was asked and told after the rows were written is lost with the rest: a caller may have been told that the
    /// payment is canceled. What had no effect so far is begun only when its caller asks for it again.
    public enum Repetition: String, Sendable, Hashable, Codable {
        /// The caller was not heard since the loss.
        case awaited
        /// The caller asked again, or for the first time.
        case heard
    }

    /// A window as given; ``opened(by:at:contracts:longestRequestLife:listingCompared:)`` computes one.
    public init(
        readsCountFrom: Timestamp, latestNotAfter: Timestamp, listingCompared: Bool = false,
        repetition: Repetition? = nil
    ) {
        self.readsCountFrom = readsCountFrom
        self.latestNotAfter = latestNotAfter
        self.listingCompared = listingCompared
        self.repetition = repetition
    }

    /// The window of a payment whose caller has just asked.
    public var heard: RecoveryWindow {
        var window = self
        window.repetition = repetition.map { _ in .heard }
        return window
    }
}

extension RecoveryWindow {
    /// How rows were lost.
    public enum Loss: String, Sendable, Hashable, Codable, CaseIterable {
        /// A synchronous standby was promoted and is not proven complete: rows that it acknowledged are there, and what
        /// was to wait for its acknowledgement has not left.
        case promotion
        /// An asynchronous standby was promoted: acknowledged rows may be missing.
        case asynchronousPromotion = "asynchronous_promotion"
        /// A backup was restored: everything since it was made is missing, acknowledged or not.
        case restore

        /// Whether what was acknowledged before still counts.
        public var keepsAcknowledgedRows: Bool { self == .promotion }
    }

    /// The window after a loss at `moment`, the first at which nobody writes to the lost rows' store any more.
    ///
    /// - After a promotion that keeps what was acknowledged, reads count once they show all that was done by then
    ///   (C11, C12): refunds and tellings waited for the acknowledgement (C6, C8), so late requests do no harm.
    /// - After a restore or an asynchronous promotion that wait may have been lost: reads count only once every request
    ///   of a lost row is dead and seen (W3, W5 against W4, W6; C22, E15).
    /// - In both, no request of a lost row is executed after the moment + the longest request life (C27).
    ///
    /// The moment comes from one clock and reads begin by another: the largest skew is added to each.
    ///
    /// - Parameters:
    ///   - loss: How the rows were lost.
    ///   - moment: The first at which nobody writes to the lost rows' store any more.
    ///   - contracts: Those of every provider that a payment may name.
    ///   - longestRequestLife: The longest `maxRequestLife` under which requests were ever sent, if a contract had a
    ///     longer one than now.
    ///   - listingCompared: Whether the listings of both sides over the loss were compared.
    public static func opened(
        by loss: Loss, at moment: Timestamp, contracts: [ProviderContract], longestRequestLife: Span? = nil,
        listingCompared: Bool = false
    ) -> RecoveryWindow {
        let lag = contracts.map(\.visibilityLag).max() ?? .zero
        let skew = contracts.map(\.clockSkew).max() ?? .zero
        let life = max(contracts.map(\.maxRequestLife).max() ?? .zero, longestRequestLife ?? .zero)
        let dead = moment + life + skew
        let settled = loss.keepsAcknowledgedRows ? moment + skew : dead
        return RecoveryWindow(
            // After, not at: what was done in the last moment is seen by reads that begin later than the lag.
            readsCountFrom: settled + lag + .milliseconds(1), latestNotAfter: dead, listingCompared: listingCompared,
            repetition: loss.keepsAcknowledgedRows ? nil : .awaited)
    }

    /// The window that has to be opened for a payment when somebody takes it up; `nil` if nothing has to.
    ///
    /// A payment whose window reaches as far already keeps it, with what was read since. One with an earlier window
    /// gets one that covers both: rows were lost twice (C5). A final payment keeps its state; a refund of it that is
    /// under way may have been executed by a request of a lost row, and is read first.
    public func needed(by payment: Payment) -> RecoveryWindow? {
        guard payment.conclusion == nil || payment.hasRefundUnderWay else { return nil }
        guard let present = payment.recovery else { return self }
        if present.readsCountFrom >= readsCountFrom, present.latestNotAfter >= latestNotAfter {
            let isComparedSince = listingCompared && !present.listingCompared && reachesAsFar(as: present)
            guard isComparedSince else { return nil }
            var window = self
            window.repetition = present.repetition
            return window
        }
        return RecoveryWindow(
            readsCountFrom: max(present.readsCountFrom, readsCountFrom),
            latestNotAfter: max(present.latestNotAfter, latestNotAfter), listingCompared: listingCompared,
            repetition: repetition ?? present.repetition)
    }

    private func reachesAsFar(as other: RecoveryWindow) -> Bool {
        readsCountFrom >= other.readsCountFrom && latestNotAfter >= other.latestNotAfter
    }
}

extension RecoveryWindow? {
    /// What a payment is told by a worker that took it over: with the claim, where its rows are untrusted and it does
    /// not know. Both are one event, so that nothing is decided between them.
    public func claim(of payment: Payment) -> PaymentEvent {
        needed(by: payment).map { .claimedAfterLoss($0) } ?? .claimed
    }

    /// What a payment is told first where a request is written beside its holder; `nil` if it knows already.
    public func opening(for payment: Payment) -> PaymentEvent? {
        needed(by: payment).map { .recoveryOpened($0) }
    }

    /// Whoever closed the window says that the listings were compared. A payment that waits for that is in no other
    /// window from which it could hear so.
    private func needed(by payment: Payment) -> RecoveryWindow? {
        if let self { return self.needed(by: payment) }
        guard var window = payment.recovery, !window.listingCompared else { return nil }
        window.listingCompared = true
        return window
    }
}
