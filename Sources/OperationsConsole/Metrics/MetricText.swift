/// The words of OpenMetrics: names, labels and numbers.
enum MetricText {
    /// A metric's name of `a-z A-Z 0-9 _`, not beginning with a digit, at most 128 characters.
    static func name(_ text: String) -> String {
        let characters = text.utf8.prefix(128).map { isWord($0) ? $0 : UInt8(ascii: "_") }
        let name = String(decoding: characters, as: UTF8.self)
        guard let first = characters.first else { return "_" }
        return (0x30...0x39).contains(first) ? "_" + name : name
    }

    /// A label's value between its quotes, at most 128 characters of it.
    static func labelValue(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars.prefix(128) {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar.value < 0x20 ? " " : scalar)
            }
        }
        return escaped
    }

    /// A number: an integer without a fraction where it is one.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        if let whole = Int64(exactly: value), abs(whole) < 1_000_000_000_000_000 { return String(whole) }
        return String(value)
    }

    /// The text of a `# HELP` line.
    static func help(_ text: String) -> String {
        text.split(separator: "\n").joined(separator: " ").split(separator: "\\").joined(separator: "/")
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
    }
}

/// One label of a series, written as it is shown.
struct MetricLabel: Sendable, Hashable {
    let name: String
    let value: String

    var text: String { "\(name)=\"\(value)\"" }

    /// The labels of a series in order of their names. Of two dimensions whose names become the same, the
    /// first counts.
    static func list(_ dimensions: [(String, String)]) -> [MetricLabel] {
        var seen: Set<String> = []
        var labels: [MetricLabel] = []
        for (name, value) in dimensions {
            var shown = MetricText.name(name)
            // Names that the format itself gives a meaning.
            if shown == "le" || shown == "quantile" || shown.hasPrefix("__") { shown = "exported_" + shown }
            guard seen.insert(shown).inserted else { continue }
            labels.append(MetricLabel(name: shown, value: MetricText.labelValue(value)))
        }
        return labels.sorted { $0.name < $1.name }
    }

    /// The label of the series that takes what there is no room for.
    static let overflow = [MetricLabel(name: "overflow", value: "true")]
}
