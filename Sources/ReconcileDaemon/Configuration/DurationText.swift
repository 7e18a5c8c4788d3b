import PaymentCore

/// Durations as the configuration writes them: `500ms`, `5s`, `2m`, `1h`, `7d`.
enum DurationText {
    static let allowed = "a duration such as 500ms, 5s, 2m, 1h or 7d"

    static func parse(_ text: String) -> Span? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard !digits.isEmpty, digits.count <= 12, let count = Int64(digits) else { return nil }
        switch text.dropFirst(digits.count) {
        case "ms": return .milliseconds(count)
        case "s": return .seconds(count)
        case "m": return .minutes(count)
        case "h": return .hours(count)
        case "d": return .days(count)
        default: return nil
        }
    }
}

extension Span {
    var duration: Duration { .milliseconds(milliseconds) }
}
