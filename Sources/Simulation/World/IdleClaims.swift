internal import PaymentCore

/// Claims of a payment of which nothing came: a payment that is claimed again and again is claimed in a loop.
struct IdleClaims {
    /// So many make a loop.
    private static let most = 100
    /// What writes nothing but when to look again is a loop if it is done so often in so short a time.
    private static let within = Span.minutes(10)

    private var withoutChange = 0
    private var withoutNews = 0
    private var since: Int64 = 0

    /// The payment was claimed; returns how often, if that is a loop.
    ///
    /// - Parameter isDue: it was due. What is taken up after a provider's return may have nothing to do yet.
    mutating func claimed(at now: Int64, isDue: Bool) -> Int? {
        if now - since > IdleClaims.within.milliseconds { (withoutNews, since) = (0, now) }
        if isDue { withoutChange += 1 }
        withoutNews += 1
        let count = max(withoutChange, withoutNews)
        return count > IdleClaims.most ? count : nil
    }

    /// A change of the payment became durable, with an entry in its trail or without.
    mutating func written(isNews: Bool) {
        withoutChange = 0
        if isNews { withoutNews = 0 }
    }

    /// A claim does not count: whoever made it was killed.
    mutating func forgetOne() {
        withoutChange = max(0, withoutChange - 1)
        withoutNews = max(0, withoutNews - 1)
    }
}
