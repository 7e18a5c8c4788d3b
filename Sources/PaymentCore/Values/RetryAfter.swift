/// How long somebody wants to be left alone: the value of `Retry-After` (RFC 9110, section 10.2.3).
public enum RetryAfter: Sendable, Hashable {
    /// So long from the answer.
    case delay(Span)
    /// Until this moment, by the clock of whoever says so.
    case moment(Timestamp)

    /// The longest wait that is believed.
    ///
    /// Who asks for more is asked again after it.
    public static let longest = Span.days(1)

    /// Reads whole seconds or an IMF-fixdate; `nil` for anything else.
    ///
    /// The obsolete forms of a date are not read.
    public init?(_ value: String) {
        let bytes = value.utf8
        if !bytes.isEmpty, bytes.count <= 18, bytes.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard let seconds = Int64(value) else { return nil }
            self = .delay(.seconds(seconds))
            return
        }
        guard let moment = Timestamp(httpDate: value) else { return nil }
        self = .moment(moment)
    }

    /// The moment before which nothing is sent, at least now and at most a day from now.
    public func moment(from now: Timestamp) -> Timestamp {
        let asked =
            switch self {
            case .delay(let span): now + span
            case .moment(let moment): moment
            }
        return min(max(asked, now), now + Self.longest)
    }
}
