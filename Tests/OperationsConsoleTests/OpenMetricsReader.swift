/// Reads OpenMetrics text strictly, as the specification's grammar has it, and throws at the first thing that
/// is wrong.
struct OpenMetricsReader {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    struct Sample: Hashable {
        let name: String
        let labels: [String: String]
        let value: Double
    }

    private(set) var types: [String: String] = [:]
    private(set) var samples: [Sample] = []
    private var current: String?

    init(_ text: String) throws {
        guard text.hasSuffix("# EOF\n") else { throw Failure(description: "no end mark") }
        let lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for line in lines.dropLast() {
            guard !line.isEmpty, line != "# EOF" else { throw Failure(description: "an early end") }
            if line.hasPrefix("#") { try metadata(line) } else { try sample(line) }
        }
        try checkHistograms()
    }

    func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private mutating func metadata(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count == 4, words[0] == "#", isName(words[2]) else { throw Failure(description: line) }
        switch words[1] {
        case "TYPE":
            guard types[words[2]] == nil else { throw Failure(description: "type twice: \(line)") }
            guard ["counter", "gauge", "summary", "histogram"].contains(words[3]) else {
                throw Failure(description: line)
            }
            types[words[2]] = words[3]
            current = words[2]
        case "UNIT":
            guard current == words[2], words[2].hasSuffix("_" + words[3]) else {
                throw Failure(description: line)
            }
        case "HELP":
            guard current == words[2] else { throw Failure(description: line) }
        default: throw Failure(description: line)
        }
    }

    private mutating func sample(_ line: String) throws {
        var rest = Substring(line)
        let name = String(rest.prefix { $0 != "{" && $0 != " " })
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" { labels = try self.labels(&rest) }
        guard rest.first == " ", isName(name), let family = current, let type = types[family] else {
            throw Failure(description: "a sample without its family: \(line)")
        }
        let suffixes = [
            "counter": ["_total"], "gauge": [""], "summary": ["_count", "_sum"],
            "histogram": ["_bucket", "_count", "_sum"],
        ]
        guard suffixes[type]?.contains(where: { family + $0 == name }) == true else {
            throw Failure(description: "not of the family \(family): \(line)")
        }
        guard let value = number(rest.dropFirst()) else { throw Failure(description: "no number: \(line)") }
        guard !samples.contains(where: { $0.name == name && $0.labels == labels }) else {
            throw Failure(description: "the same series twice: \(line)")
        }
        samples.append(Sample(name: name, labels: labels, value: value))
    }

    private func labels(_ rest: inout Substring) throws -> [String: String] {
        var labels: [String: String] = [:]
        repeat {
            rest = rest.dropFirst()
            let name = String(rest.prefix { $0 != "=" })
            rest = rest.dropFirst(name.count)
            guard isName(name), rest.hasPrefix("=\"") else { throw Failure(description: "a label: \(rest)") }
            rest = rest.dropFirst(2)
            var value = ""
            while let character = rest.first, character != "\"" {
                rest = rest.dropFirst()
                guard character == "\\" else {
                    value.append(character)
                    continue
                }
                guard let escaped = rest.popFirst(), let plain = ["n": "\n", "\\": "\\", "\"": "\""][escaped]
                else { throw Failure(description: "an escape") }
                value += plain
            }
            guard rest.popFirst() == "\"", labels.updateValue(value, forKey: name) == nil else {
                throw Failure(description: "a label's end")
            }
        } while rest.first == ","
        guard rest.popFirst() == "}" else { throw Failure(description: "the labels' end") }
        return labels
    }

    private func isName(_ text: String) -> Bool {
        guard let first = text.first, first.isLetter || first == "_" else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
    }

    private func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: text.allSatisfy { "0123456789+-.e".contains($0) } ? Double(text) : nil
        }
    }

    private func checkHistograms() throws {
        for (family, type) in types where type == "histogram" {
            for count in samples where count.name == family + "_count" {
                let buckets = samples.filter { sample in
                    sample.name == family + "_bucket"
                        && sample.labels.filter { $0.key != "le" } == count.labels
                }
                let values = buckets.map(\.value)
                guard buckets.last?.labels["le"] == "+Inf", values.last == count.value,
                    values == values.sorted()
                else { throw Failure(description: "the buckets of \(family)") }
            }
        }
    }
}
