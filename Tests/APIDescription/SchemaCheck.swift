/// Holds documents against schemas of JSON Schema 2020-12, as far as the descriptions use it. A keyword that it does
/// not know is a finding, so that nothing passes unread.
package struct SchemaCheck: Sendable {
    /// The documents by their names, as references name them.
    private let documents: [String: JSONText]

    /// A check against documents by their names.
    package init(documents: [String: JSONText]) { self.documents = documents }

    private static let words: Set<String> = ["description", "format", "default", "example", "examples"]

    /// What is wrong with a value; empty if nothing is.
    package func findings(_ value: JSONText, _ schema: JSONText, in document: String, at path: String = "$") -> [String]
    {
        var found: [String] = []
        for (keyword, rule) in schema.members.sorted(by: { $0.key < $1.key }) {
            guard !SchemaCheck.words.contains(keyword) else { continue }
            found += check(keyword, rule, value, schema, document, path)
        }
        return found
    }

    /// What a reference names.
    func resolved(_ reference: String, in document: String) -> (schema: JSONText, document: String)? {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = parts.first, let pointer = parts.last else { return nil }
        let target = name.isEmpty ? document : String(name)
        var node = documents[target]
        for step in pointer.split(separator: "/") { node = node?[String(step)] }
        return node.map { ($0, target) }
    }

    private func check(
        _ keyword: String, _ rule: JSONText, _ value: JSONText, _ schema: JSONText, _ document: String, _ path: String
    ) -> [String] {
        switch keyword {
        case "$ref":
            guard let target = rule.string.flatMap({ resolved($0, in: document) }) else {
                return ["\(path): \(rule) leads nowhere"]
            }
            return findings(value, target.schema, in: target.document, at: path)
        case "type":
            // A reader of YAML may take the word for the value.
            let names = (rule.items.isEmpty ? [rule] : rule.items).map { $0.string ?? "null" }
            return names.contains { isOf($0, value) } ? [] : ["\(path): not of \(names): \(value)"]
        case "enum": return rule.items.contains(value) ? [] : ["\(path): not among \(rule.items): \(value)"]
        case "const": return rule == value ? [] : ["\(path): not \(rule)"]
        case "oneOf", "anyOf":
            let fits = rule.items.count { findings(value, $0, in: document, at: path).isEmpty }
            let isRight = keyword == "oneOf" ? fits == 1 : fits > 0
            return isRight ? [] : ["\(path): fits \(fits) of \(keyword): \(value)"]
        case "required", "properties", "additionalProperties", "propertyNames", "maxProperties":
            return checkObject(keyword, rule, value.members, schema, document, path)
        case "items":
            return value.items.enumerated().flatMap { findings($1, rule, in: document, at: "\(path)[\($0)]") }
        default: return checkLimit(keyword, rule, value, path)
        }
    }

    private func checkObject(
        _ keyword: String, _ rule: JSONText, _ members: [String: JSONText], _ schema: JSONText, _ document: String,
        _ path: String
    ) -> [String] {
        switch keyword {
        case "required":
            return rule.items.compactMap(\.string).filter { members[$0] == nil }.map { "\(path).\($0): missing" }
        case "properties":
            return members.flatMap { name, value in
                rule[name].map { findings(value, $0, in: document, at: "\(path).\(name)") } ?? []
            }
        case "additionalProperties":
            let more = members.filter { schema["properties"]?[$0.key] == nil }
            if rule == .bool(false) { return more.keys.map { "\(path).\($0): too much" } }
            return more.flatMap { findings($1, rule, in: document, at: "\(path).\($0)") }
        case "propertyNames":
            return members.keys.flatMap { findings(.string($0), rule, in: document, at: "\(path).\($0)") }
        default: return members.count <= rule.integer ?? 0 ? [] : ["\(path): too many members"]
        }
    }

    private func checkLimit(_ keyword: String, _ rule: JSONText, _ value: JSONText, _ path: String) -> [String] {
        let length = value.string.map { Int64($0.unicodeScalars.count) }
        let limit = rule.integer ?? 0
        let isKept: Bool
        switch keyword {
        case "pattern":
            guard let text = value.string, let pattern = rule.string else { return [] }
            guard let regex = try? Regex(pattern) else { return ["\(path): no pattern: \(pattern)"] }
            isKept = text.firstMatch(of: regex) != nil
        case "minLength": isKept = length.map { $0 >= limit } ?? true
        case "maxLength": isKept = length.map { $0 <= limit } ?? true
        case "minimum": isKept = value.integer.map { $0 >= limit } ?? true
        case "maximum": isKept = value.integer.map { $0 <= limit } ?? true
        case "maxItems": isKept = Int64(value.items.count) <= limit
        case "minItems": isKept = Int64(value.items.count) >= limit
        default: return ["\(path): the keyword \(keyword) is not known to this check"]
        }
        return isKept ? [] : ["\(path): \(keyword) \(rule): \(value)"]
    }

    private func isOf(_ type: String, _ value: JSONText) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
            ("string", .string), ("array", .array), ("object", .object):
            true
        default: false
        }
    }
}
