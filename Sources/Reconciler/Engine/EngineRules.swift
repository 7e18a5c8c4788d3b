/// Rules of the engine that a check breaks on purpose, to see that it finds what comes of it.
///
/// Nothing of this package makes one but checks: what ships is built with none broken, and no setting reaches it.
package struct EngineRules: Sendable, Hashable {
    /// One rule of the engine, broken.
    package enum Breach: Int, Sendable, Hashable, CaseIterable {
        /// Requests that arrive while the last change of a payment is on its way are dropped.
        case leftoverRequestsDropped
        /// Outcomes that arrive while the last change of a payment is on its way are dropped.
        case leftoverEventsDropped
        /// Leases are prolonged once in twice their length.
        case leasesRenewedTooLate
        /// Whoever is told to stop goes on beginning things.
        case drainingIgnored
        /// What is due by the store's clock and not by one's own is looked at by one's own.
        case storeClockIgnored
        /// A request leaves although the site may not act.
        case closedGateIgnored
        /// A new payment of which it is not known whether it was written is called refused.
        case uncertainInsertForgotten
        /// A payment whose commit gave no certain answer is not read again, and its change is made anew.
        case uncertainCommitForgotten
        /// A newer claim of a payment does not take the place of the runner under the older one.
        case newerClaimIgnored
        /// What was under way in a term that is over goes on.
        case endedTermIgnored
        /// A window of recovery is not passed on to what is taken up.
        case windowForgotten
        /// Whoever takes a payment over does not look at what was open.
        case takeoverForgotten
        /// Nobody looks again once a sweep found nothing.
        case sweepStopsWhenIdle
        /// Payments that wait because there was no place are not looked for when one is free, nor later.
        case pauseForgotten
        /// A lease that ends without a change is not given back.
        case leaseNotReleased
        /// Whoever is told to stop does not wait for what is being claimed or given back.
        case leasesNotAwaited
        /// A caller's request beside the holder is written without looking at the window of recovery.
        case writtenWithoutWindow
        /// A refund that is asked for after lost rows is not told of the window of recovery.
        case refundsOutsideWindow
        /// What a comparison over lost rows found given back is not told to its payment.
        case foundRefundsForgotten
        /// A request that another writer overtook is answered as if it had been taken.
        case overtakenWriteTaken
        /// A change that the store did not take is not tried again.
        case failedCommitForgotten
        /// A latch counts once the standby has what was written before it.
        case latchMarkedTooEarly
        /// A latch that was not acknowledged when its payment is taken up is not asked about.
        case unconfirmedLatchForgotten
        /// A provider's return is not noticed: what waits for it waits for the next entry of its schedule.
        case returnNotNoticed
        /// What was taken up after a provider's return, and has still to wait, is taken up again and again.
        case returnHasNoEnd
        /// What is asked of a payment that is being confirmed after lost rows is judged by its row.
        case unconfirmedJudged
        /// A key's fingerprint is not compared.
        case bodyNotCompared
        /// A settled answer is made anew for every repeat of its key.
        case answerForgotten
        /// What a change calls for is begun twice.
        case jobsDoneTwice
        /// A payment that another process has is not read while somebody waits for it.
        case othersNotLookedAt
        /// What a listing shows of disputes is not told to the payment.
        case disputesUntold
    }

    private let breaches: UInt64

    /// Every rule as it ships.
    package static let shipped = EngineRules(breaking: [])

    /// Rules of which some are broken.
    package init(breaking breaches: Set<Breach>) {
        self.breaches = breaches.reduce(0) { $0 | 1 << UInt64($1.rawValue) }
    }

    /// Whether this rule is broken.
    package func breaks(_ breach: Breach) -> Bool { breaches >> UInt64(breach.rawValue) & 1 == 1 }
}
