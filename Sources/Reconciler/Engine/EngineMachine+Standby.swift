public import PaymentCore

/// Latches that count only once the standby has them on its disk (`site.replication: asynchronous`).
///
/// All that wait are asked about in one question. A place in the log that is read after a latch is durable lies behind
/// it; once the standby has flushed the log up to there, it has the latch.
extension EngineMachine {
    /// What waits for the standby.
    struct Unconfirmed {
        struct Waiting {
            let latch: Latch
            let since: Timestamp
            /// How many questions had left when it was durable: an answer to one of those says nothing of it.
            let questions: Int
            /// It is in the log before this place.
            var mark: LogPosition?
            /// When its payment was told.
            var toldAt: Timestamp?
        }

        var latches: [PaymentID: Waiting] = [:]
        var questions = 0
        var isAsking = false
        var pause = Unconfirmed.shortestPause
        /// From when on no standby was seen to follow; `nil` while one does, or where nobody asked for long.
        var unfollowedSince: Timestamp?
        var askedLast: Timestamp?

        static let shortestPause = Span.milliseconds(20)
        static let longestPause = Span.seconds(1)
        /// What a payment was told is lost if its store fails at that moment; then it is told again.
        static let tellAgainAfter = Span.seconds(5)
    }

    /// How many latches wait for the standby, and since when the one that waits longest.
    public var unconfirmedLatches: (count: Int, since: Timestamp?) {
        (unconfirmed.latches.count, unconfirmed.latches.values.map(\.since).min())
    }

    /// A payment was read, or is durable as it is here.
    mutating func seen(_ payment: Payment) {
        guard !settings.commitsAreAcknowledged, term != nil else { return }
        guard payment.latch != .none, !payment.latchAcknowledged else {
            unconfirmed.latches.removeValue(forKey: payment.id)
            return
        }
        if unconfirmed.latches[payment.id]?.latch == payment.latch { return }
        guard !rules.breaks(.unconfirmedLatchForgotten) || runners[payment.id] != nil else { return }
        let isEarly = rules.breaks(.latchMarkedTooEarly)
        unconfirmed.latches[payment.id] = Unconfirmed.Waiting(
            latch: payment.latch, since: moment.now, questions: unconfirmed.questions,
            mark: isEarly ? LogPosition(offset: 0) : nil)
        unconfirmed.pause = Unconfirmed.shortestPause
        askStandby()
    }

    private mutating func askStandby() {
        guard !unconfirmed.isAsking, !unconfirmed.latches.isEmpty, !isStopped else { return }
        unconfirmed.isAsking = true
        unconfirmed.questions += 1
        jobs.append(.askStandby(after: unconfirmed.pause))
    }

    mutating func standbyAnswered(_ result: Result<StandbyReading, StoreFailure>) {
        unconfirmed.isAsking = false
        unconfirmed.pause = min(unconfirmed.pause + unconfirmed.pause, Unconfirmed.longestPause)
        if case .success(let reading) = result { noteFollower(reading) }
        for id in unconfirmed.latches.keys.sorted() {
            guard var waiting = unconfirmed.latches[id] else { continue }
            if case .success(let reading) = result {
                if waiting.mark == nil, waiting.questions < unconfirmed.questions {
                    waiting.mark = reading.written
                    unconfirmed.pause = Unconfirmed.shortestPause
                }
                unconfirmed.latches[id] = waiting
                if let mark = waiting.mark, let flushed = reading.flushed, mark <= flushed {
                    tellAcknowledged(id, waiting)
                    continue
                }
            }
            if let limit = settings.acknowledgeUnconfirmedAfter, moment.now - waitsFrom(waiting) >= limit {
                if waiting.toldAt == nil {
                    jobs.append(.note(.countedUnconfirmed(id, waited: moment.now - waiting.since)))
                }
                tellAcknowledged(id, waiting)
            }
        }
        askStandby()
    }

    /// Whether somebody follows is asked while something waits. An answer from long ago says nothing of the time since.
    private mutating func noteFollower(_ reading: StandbyReading) {
        let limit = settings.acknowledgeUnconfirmedAfter ?? .zero
        let isLongAgo = unconfirmed.askedLast.map { moment.now - $0 > limit } ?? true
        unconfirmed.askedLast = moment.now
        if reading.flushed != nil {
            unconfirmed.unfollowedSince = nil
        } else if unconfirmed.unfollowedSince == nil || isLongAgo {
            unconfirmed.unfollowedSince = moment.now
        }
    }

    /// A site that nobody follows waits once, and not again with each decision: none of them can be confirmed.
    private func waitsFrom(_ waiting: Unconfirmed.Waiting) -> Timestamp {
        min(waiting.since, unconfirmed.unfollowedSince ?? waiting.since)
    }

    private mutating func tellAcknowledged(_ id: PaymentID, _ waiting: Unconfirmed.Waiting) {
        if let toldAt = waiting.toldAt, moment.now - toldAt < Unconfirmed.tellAgainAfter { return }
        unconfirmed.latches[id]?.toldAt = moment.now
        deliver(id, Delivery(events: [.latchAcknowledged(waiting.latch)], mayBeGone: true))
    }
}
