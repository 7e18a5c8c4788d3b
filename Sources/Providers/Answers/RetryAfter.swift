public import PaymentCore

/// How long a provider wants to be left alone: the value of `Retry-After` (RFC 9110, section 10.2.3).
public enum RetryAfter: Sendable, Hashable {
    /// So long from the answer.
    case delay(Span)
    /// Until this moment of the provider's clock.
    case moment(Timestamp)

    /// The longest wait that is believed.
    ///
    /// Who asks for more is asked again after it.
    static let longest = Span.days(1)

    /// Reads whole seconds or an IMF-fixdate; `nil` for anything else.
    ///
    /// The obsolete forms of a date are not read.
    init?(_ value: String) {
        let bytes = value.utf8
        if !bytes.isEmpty, bytes.count <= 18, bytes.allSatisfy({ (0x30...0x39).contains($0) }) {
            guard let seconds = Int64(value) else { return nil }
            self = .delay(.seconds(seconds))
            return
        }
        guard let moment = Self.moment(ofDate: value) else { return nil }
        self = .moment(moment)
    }

    /// The moment before which nothing is sent, at least now and at most a day from now.
    func moment(from now: Timestamp) -> Timestamp {
        let asked =
            switch self {
            case .delay(let span): now + span
            case .moment(let moment): moment
            }
        return min(max(asked, now), now + Self.longest)
    }

    /// The moment of an IMF-fixdate, such as `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for anything else.
    static func moment(ofDate text: String) -> Timestamp? {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let weekdays = ["Mon,", "Tue,", "Wed,", "Thu,", "Fri,", "Sat,", "Sun,"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard words.count == 6, weekdays.contains(String(words[0])), words[1].utf8.count == 2,
            let month = months.firstIndex(of: String(words[2])), words[5] == "GMT"
        else { return nil }
        let twoDigits = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(words[3])-\(twoDigits)-\(words[1])T\(words[4])Z")
    }
}
