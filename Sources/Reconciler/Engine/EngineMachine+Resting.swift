internal import PaymentCore

/// Taking up what rests, once rows were lost: a payment that waits for its caller is due only when its hold ends, and
/// its row may be older than what its caller was told. In a window of recovery it is read as all others are.
extension EngineMachine {
    /// A look through the payments that rest, page by page.
    struct RestingReview {
        /// The window for which they are looked through.
        let window: RecoveryWindow
        /// The page that is being read begins after this place.
        var cursor: PageCursor?
        /// Every page was read.
        var isDone = false
    }

    /// A page has so many payments.
    private static let restingPage = 100
    /// Between two pages, so that what is new is not kept waiting.
    private static let restingPause = Span.milliseconds(250)
    /// Before a page that could not be read is read again.
    private static let restingRetry = Span.seconds(1)

    /// Begins to look through what rests, once for each window.
    mutating func reviewResting() {
        guard let window = recovery, resting?.window != window, !rules.breaks(.windowForgotten) else { return }
        resting = RestingReview(window: window)
        readResting(after: nil, pause: .zero)
    }

    private mutating func readResting(after cursor: PageCursor?, pause: Span) {
        jobs.append(.readResting(after: cursor, limit: EngineMachine.restingPage, pause: pause))
    }

    mutating func resting(_ after: PageCursor?, _ result: Result<Page<Payment>, StoreFailure>) {
        guard let review = resting, !review.isDone, review.cursor == after, !isStopped else { return }
        guard mayBegin, recovery == review.window else {
            // Whoever gets the right to act begins anew.
            resting = nil
            return
        }
        switch result {
        case .failure: readResting(after: after, pause: EngineMachine.restingRetry)
        case .success(let page):
            for payment in page.items where review.window.needed(by: payment) != nil {
                deliver(payment.id, Delivery(events: [.woke], mayBeGone: true))
            }
            resting?.cursor = page.next
            resting?.isDone = page.next == nil
            if let next = page.next { readResting(after: next, pause: EngineMachine.restingPause) }
        }
    }
}
