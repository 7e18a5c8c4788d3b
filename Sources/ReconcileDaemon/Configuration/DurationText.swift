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

    /// The shortest text that is read as the same duration.
    static func render(_ span: Span) -> String {
        let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
        for (size, name) in units where span.milliseconds != 0 && span.milliseconds % size == 0 {
            return "\(span.milliseconds / size)\(name)"
        }
        return span == .zero ? "0s" : "\(span.milliseconds)ms"
    }
}

extension Span {
    var duration: Duration { .milliseconds(milliseconds) }
}
