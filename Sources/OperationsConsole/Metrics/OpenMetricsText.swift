/// Writes metric families as OpenMetrics 1.0 text.
enum OpenMetricsText {
    /// The media type.
    static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// The families by name, their series by labels, and the end mark.
    static func write(_ families: [String: MetricsRegistry.Family], help: [String: String]) -> String {
        var text = ""
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += "# TYPE \(name) \(family.kind.rawValue)\n"
            if family.kind == .histogram { text += "# UNIT \(name) seconds\n" }
            if let words = help[name] { text += "# HELP \(name) \(MetricText.help(words))\n" }
            let series = family.series.map { (labels: $0.key, text: $0.key.map(\.text), series: $0.value) }
            for (labels, _, series) in series.sorted(by: { $0.text.lexicographicallyPrecedes($1.text) }) {
                for sample in series.samples() {
                    let all = labels + (sample.label.map { [$0] } ?? [])
                    let shown = all.isEmpty ? "" : "{\(all.map(\.text).joined(separator: ","))}"
                    text += "\(name)\(sample.suffix)\(shown) \(sample.value)\n"
                }
            }
        }
        return text + "# EOF\n"
    }
}
