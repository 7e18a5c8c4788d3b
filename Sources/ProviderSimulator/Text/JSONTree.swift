/// A value of an answer's JSON.
indirect enum JSONTree: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    case text(String)
    case list([JSONTree])
    case object([(String, JSONTree)])

    static func == (left: JSONTree, right: JSONTree) -> Bool { left.text() == right.text() }

    /// As JSON, without every member that has this name.
    func text(without name: String? = nil) -> String {
        switch self {
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let number): return String(number)
        case .text(let text):
            var json = JSONText(capacity: text.utf8.count + 2)
            json.string(text)
            return json.text
        case .list(let values): return "[" + values.map { $0.text(without: name) }.joined(separator: ",") + "]"
        case .object(let members):
            let shown = members.filter { $0.0 != name }
                .map { JSONTree.text($0.0).text() + ":" + $0.1.text(without: name) }
            return "{" + shown.joined(separator: ",") + "}"
        }
    }

    static func optional(_ text: String?) -> JSONTree { text.map { .text($0) } ?? .null }

    static func texts(_ texts: [String: String]) -> JSONTree {
        .object(texts.sorted { $0.key < $1.key }.map { ($0.key, .text($0.value)) })
    }
}
