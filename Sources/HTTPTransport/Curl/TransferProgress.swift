/// How far one request got, and when each of its limits ends.
///
/// A synchronous value: libcurl's callbacks and the loop tell it what happened, and it answers what is due.
struct TransferProgress {
    /// What a callback refused, and why libcurl therefore ended the transfer.
    enum Refusal: Equatable {
        case expiredBeforeSend
        case resendOnDeadConnection
        case responseTooLarge
        case malformedResponse
    }

    private let limits: TimeLimits
    private let startBefore: ContinuousClock.Instant?
    private let secure: Bool
    private let bodyLength: Int
    private let began: ContinuousClock.Instant

    private(set) var phase = Phase.waiting
    private(set) var refusal: Refusal?
    /// Whether an address was judged, and none was allowed: then no socket was opened.
    private(set) var everyAddressWasRefused = false
    private var addressWasAllowed = false
    private var connectBegan: ContinuousClock.Instant?
    private var tlsBegan: ContinuousClock.Instant?
    private var sendBegan: ContinuousClock.Instant?
    private var counted = 0
    private var countedBody = 0
    private var headEnded = false

    init(_ request: HTTPRequest, secure: Bool, now: ContinuousClock.Instant) {
        limits = request.limits
        startBefore = request.startBefore
        bodyLength = request.body.count
        self.secure = secure
        began = now
    }

    /// The bytes of the request that were written.
    ///
    /// Cleartext is exact: libcurl reports each successful `send(2)`. Through TLS a write that the socket
    /// refused may have left with a part of it, so there it is at least 1.
    var bytesWritten: Int { secure && sendBegan != nil ? max(1, counted) : counted }

    /// A name is being resolved or a socket opened.
    ///
    /// `false` if the transfer has been on the wire before: then libcurl is about to send the request a
    /// second time on a fresh connection.
    mutating func connecting(_ step: Phase, now: ContinuousClock.Instant) -> Bool {
        guard sendBegan == nil else {
            refusal = .resendOnDeadConnection
            return false
        }
        if connectBegan == nil { connectBegan = now }
        reach(step)
        return true
    }

    /// The rule judged an address before its socket was opened.
    mutating func judgedAddress(isAllowed: Bool) {
        if isAllowed { addressWasAllowed = true }
        everyAddressWasRefused = !addressWasAllowed
    }

    /// TCP is connected: the first message of the TLS handshake left.
    ///
    /// Told again for every further one.
    mutating func securing(now: ContinuousClock.Instant) {
        guard phase == .connecting else { return }
        reach(.securing)
        tlsBegan = now
    }

    /// The connection is ready and the first byte is next.
    ///
    /// `false` if it must not be written.
    mutating func mayWrite(now: ContinuousClock.Instant) -> Bool {
        guard sendBegan == nil else {
            refusal = .resendOnDeadConnection
            return false
        }
        reach(.connected)
        if let startBefore, now >= startBefore {
            refusal = .expiredBeforeSend
            return false
        }
        sendBegan = now
        if secure { reach(.sending) }
        return true
    }

    /// Bytes of the request's head were written.
    mutating func wroteHead(_ count: Int, endsHead: Bool) {
        counted += count
        headEnded = headEnded || endsHead
        wrote()
    }

    /// Bytes of the request's body were written.
    mutating func wroteBody(_ count: Int) {
        counted += count
        countedBody += count
        wrote()
    }

    /// libcurl's own sum, asked for when the transfer ends: were it ever to leave out a single report above,
    /// then nothing may be called unsent because of that.
    mutating func wroteInAll(atLeast count: Int) {
        counted = max(counted, count)
        if counted > 0 { reach(.sending) }
    }

    private mutating func wrote() {
        guard counted > 0 else { return }
        reach(.sending)
        if headEnded && countedBody >= bodyLength { reach(.sent) }
    }

    /// Something of the answer arrived; `false` if it cannot be accepted.
    mutating func received(_ verdict: ResponseCollector.Verdict) -> Bool {
        reach(.receiving)
        switch verdict {
        case .accepted: return true
        case .tooLarge: refusal = .responseTooLarge
        case .malformed: refusal = .malformedResponse
        }
        return false
    }

    /// The transfer ended with a complete answer.
    mutating func completed() { reach(.complete) }

    /// When the loop must look again at the latest.
    var nextDeadline: ContinuousClock.Instant {
        deadlines.map(\.at).reduce(began + limits.total) { min($0, $1) }
    }

    /// The limit that has been passed, if any; of several the one that ended first.
    func expired(now: ContinuousClock.Instant) -> TransportFailure.Code? {
        deadlines.filter { $0.at <= now }.min { $0.at < $1.at }?.code
    }

    private var deadlines: [(at: ContinuousClock.Instant, code: TransportFailure.Code)] {
        var due: [(at: ContinuousClock.Instant, code: TransportFailure.Code)] = [
            (began + limits.total, .totalTimeout)
        ]
        if let startBefore, counted == 0, phase < .sent { due.append((startBefore, .expiredBeforeSend)) }
        if let sendBegan {
            if phase < .receiving { due.append((sendBegan + limits.firstByte, .firstByteTimeout)) }
        } else if let tlsBegan {
            due.append((tlsBegan + limits.tls, .tlsTimeout))
        } else if let connectBegan {
            due.append((connectBegan + limits.connect, .connectTimeout))
        }
        return due
    }

    private mutating func reach(_ next: Phase) { phase = max(phase, next) }
}
