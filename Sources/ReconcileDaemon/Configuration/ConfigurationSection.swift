import PaymentCore
import Yams

/// Collects problems and remembers which environment variables were used, while the sections are read.
final class ConfigurationReading {
    private(set) var problems: [ConfigurationProblem] = []
    /// The files whose content is part of the configuration: secrets, and certificates.
    private(set) var files: [String] = []
    private var unusedVariables: Set<String>
    let environment: [String: String]
    private let contentOf: (String) throws -> String
    /// Whether something is sent to providers by what is read: only then their secrets are needed.
    let isForSending: Bool

    static let prefix = "RECONCILED_"

    init(
        environment: [String: String], isForSending: Bool = true, readFile: @escaping (String) throws -> String
    ) {
        self.environment = environment
        self.isForSending = isForSending
        contentOf = readFile
        unusedVariables = Set(environment.keys.filter { $0.hasPrefix(ConfigurationReading.prefix) })
        unusedVariables.remove("RECONCILED_CONFIG")
        #if DEBUG
            unusedVariables.remove("RECONCILED_FAILPOINT")
        #endif
    }

    func readFile(_ path: String) throws -> String {
        files.append(path)
        return try contentOf(path)
    }

    func report(_ key: String, value: String, allowed: String) {
        problems.append(ConfigurationProblem(key: key, value: value, allowed: allowed))
    }

    func variable(_ name: String) -> String? {
        unusedVariables.remove(name)
        return environment[name]
    }

    /// Throws everything that was found, unknown variables included.
    func finish() throws {
        for name in unusedVariables.sorted() {
            report(name, value: "(set)", allowed: "a variable that overrides a key that exists")
        }
        guard problems.isEmpty else { throw ConfigurationFailure(problems: problems) }
    }
}

/// One mapping of the configuration, with the environment laid over it. Keys that nobody asked for are problems.
final class ConfigurationSection {
    private let path: String
    private let variablePrefix: String
    private let reading: ConfigurationReading
    private var entries: [String: Node] = [:]
    private var asked: Set<String> = []

    init(_ node: Node?, path: String, variablePrefix: String, reading: ConfigurationReading) {
        self.path = path
        self.variablePrefix = variablePrefix
        self.reading = reading
        guard let node else { return }
        if case .mapping(let mapping) = node {
            for (key, value) in mapping {
                guard let name = key.string else { continue }
                entries[name] = value
            }
        } else if !ConfigurationSection.isNull(node) {
            reading.report(path, value: node.string ?? "(a list)", allowed: "a mapping of keys to values")
        }
    }

    private static func isNull(_ node: Node) -> Bool {
        node.scalar.map { $0.string.isEmpty || $0.string == "~" } ?? false
    }

    private func keyPath(_ key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
    /// The environment variable that overrides a key.
    func variableName(_ key: String) -> String { variablePrefix + variablePart(key) }
    private func variablePart(_ key: String) -> String {
        key.uppercased().map { $0 == "-" || $0 == "." ? "_" : String($0) }.joined()
    }

    /// The text of a key, from the environment or the file.
    func text(_ key: String) -> String? {
        asked.insert(key)
        if let value = reading.variable(variableName(key)) { return value }
        guard let node = entries[key], !ConfigurationSection.isNull(node) else { return nil }
        guard let scalar = node.scalar else {
            reading.report(keyPath(key), value: "(a list or mapping)", allowed: "a single value")
            return nil
        }
        return scalar.string
    }

    /// A value that `parse` understands.
    func value<Value>(_ key: String, allowed: String, default fallback: Value, _ parse: (String) -> Value?) -> Value {
        guard let text = text(key) else { return fallback }
        guard let value = parse(text) else {
            reading.report(keyPath(key), value: text, allowed: allowed)
            return fallback
        }
        return value
    }

    /// A value that must be there.
    func required(_ key: String, allowed: String) -> String {
        guard let text = text(key), !text.isEmpty else {
            reading.report(keyPath(key), value: "", allowed: allowed)
            return ""
        }
        return text
    }

    func int(_ key: String, in range: ClosedRange<Int>, default fallback: Int) -> Int {
        value(key, allowed: "a whole number from \(range.lowerBound) to \(range.upperBound)", default: fallback) {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func bool(_ key: String, default fallback: Bool) -> Bool {
        value(key, allowed: "true or false", default: fallback) {
            switch $0 {
            case "true": true
            case "false": false
            default: nil
            }
        }
    }

    func duration(_ key: String, default fallback: Span, atLeast least: Span = .milliseconds(1)) -> Span {
        let allowed = least == .zero ? "\(DurationText.allowed), or 0s" : DurationText.allowed
        return value(key, allowed: allowed, default: fallback) {
            DurationText.parse($0).flatMap { $0 >= least ? $0 : nil }
        }
    }

    /// A duration, or `forever`.
    func durationOrForever(_ key: String, default fallback: Span?) -> Span? {
        guard let text = text(key) else { return fallback }
        if text == "forever" { return nil }
        guard let span = DurationText.parse(text) else {
            reading.report(keyPath(key), value: text, allowed: "\(DurationText.allowed), or forever")
            return fallback
        }
        return span
    }

    func choice<Value: RawRepresentable & CaseIterable>(_ key: String, default fallback: Value) -> Value
    where Value.RawValue == String {
        let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
        return value(key, allowed: "one of \(allowed)", default: fallback) { Value(rawValue: $0) }
    }

    /// A list of texts; in the environment separated by commas.
    func texts(_ key: String) -> [String]? {
        asked.insert(key)
        if let value = reading.variable(variableName(key)) {
            return value.split(separator: ",").map { String($0).trimmed }
        }
        guard let node = entries[key] else { return nil }
        guard case .sequence(let sequence) = node else {
            reading.report(keyPath(key), value: node.string ?? "(a mapping)", allowed: "a list")
            return nil
        }
        return sequence.compactMap(\.string)
    }

    /// A secret: from `<VARIABLE>` or from the file that `<VARIABLE>_FILE` or the key `<key>_file` names; never from
    /// the
    /// configuration file itself.
    func secret(_ key: String) -> String? {
        asked.insert(key)
        if entries[key] != nil {
            reading.report(
                keyPath(key), value: "(hidden)",
                allowed: "secrets only from \(variableName(key)), \(variableName(key))_FILE or \(key)_file")
        }
        let file = text("\(key)_file")
        if let value = reading.variable(variableName(key)), !value.isEmpty { return value.trimmed }
        guard let file else { return nil }
        do {
            return try reading.readFile(file).trimmed
        } catch {
            reading.report(keyPath("\(key)_file"), value: file, allowed: "a file that can be read")
            return nil
        }
    }

    /// Whether something is sent to providers by what is read.
    var isForSending: Bool { reading.isForSending }

    /// Leaves keys unread that are there for another use.
    func leaveOut(_ keys: String...) {
        for key in keys {
            asked.insert(key)
            _ = reading.variable(variableName(key))
        }
    }

    /// What a file holds; `nil` if it cannot be read.
    func content(of file: String) -> String? { try? reading.readFile(file) }

    /// A moment as RFC 3339; `nil` if it is not given or is none.
    func moment(_ key: String) -> Timestamp? {
        guard let text = text(key) else { return nil }
        guard let moment = Timestamp(rfc3339: text) else {
            reading.report(keyPath(key), value: text, allowed: "a moment such as 2026-03-01T09:30:00Z")
            return nil
        }
        return moment
    }

    /// Whether the file or the environment has any of these keys. They count as asked for.
    func has(anyOf keys: [String]) -> Bool {
        keys.map { text($0) != nil }.contains(true)
    }

    func section(_ key: String) -> ConfigurationSection {
        asked.insert(key)
        return ConfigurationSection(
            entries[key], path: keyPath(key), variablePrefix: variableName(key) + "_", reading: reading)
    }

    /// A list of mappings, each with a `name` by which the environment addresses it.
    func sections(_ key: String) -> [ConfigurationSection] {
        asked.insert(key)
        guard let node = entries[key] else { return [] }
        guard case .sequence(let sequence) = node else {
            reading.report(keyPath(key), value: node.string ?? "(a mapping)", allowed: "a list of mappings")
            return []
        }
        return sequence.enumerated().map { index, item in
            let name = item["name"]?.string ?? String(index)
            return ConfigurationSection(
                item, path: "\(keyPath(key))[\(index)]",
                variablePrefix: variableName(key) + "_" + variablePart(name) + "_", reading: reading)
        }
    }

    func report(_ key: String, value: String, allowed: String) {
        reading.report(keyPath(key), value: value, allowed: allowed)
    }

    /// Reports keys that nobody asked for.
    func finish() {
        let known = asked.sorted().joined(separator: ", ")
        for key in entries.keys.sorted() where !asked.contains(key) {
            reading.report(keyPath(key), value: "(unknown key)", allowed: known)
        }
    }
}

extension String {
    var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
