internal import HTTPEdge
internal import PaymentCore
internal import Reconciler
internal import StrictJSON

/// The bodies of what operators ask of comparisons.
enum ComparisonBodies {
    /// How deep arrays and objects may lie within each other.
    private static let maximumDepth = 4

    /// Reads a body; the listener has bounded it and looked at its type.
    static func document(_ bytes: [UInt8]) throws(Problem) -> JSONValue {
        let document: JSONValue
        do {
            document = try JSONReader.read(bytes, maximumDepth: maximumDepth)
        } catch {
            throw .unreadable(error)
        }
        if let field = CardNumberScan.find(in: document) { throw .cardNumber(field: field.text) }
        return document
    }

    /// The body of `POST /v1/reconciliations`.
    static func ask(_ bytes: [UInt8]) throws(Problem) -> ComparisonDesk.Ask {
        let fields = try ObjectFields(
            try document(bytes), at: .root, allowed: ["provider", "from", "to", "dry_run", "again"])
        let field = FieldPath.root.member("provider")
        let name = try fields.required("provider").text(at: field, length: 1...64)
        let provider: ProviderName
        do {
            provider = try ProviderName(name)
        } catch {
            throw .malformed(field, "Must be \(error.allowed).")
        }
        let from = try moment(fields, "from")
        let to = try moment(fields, "to")
        guard let window = ComparedWindow(from: from, to: to) else {
            throw .impossible(FieldPath.root.member("to"), "Must be after from.")
        }
        return ComparisonDesk.Ask(
            provider: provider, window: window, isDry: try flag(fields, "dry_run"), again: try flag(fields, "again"))
    }

    /// A change of a discrepancy, and the version that its author has read.
    struct Change {
        var change: ComparisonDesk.Change
        var version: Int64
    }

    /// The body of `POST …/assignment`.
    static func assignment(_ bytes: [UInt8]) throws(Problem) -> Change {
        let fields = try ObjectFields(try document(bytes), at: .root, allowed: ["assignee", "version"])
        let value = try fields.required("assignee")
        if value == .null { return Change(change: .assign(to: nil), version: try version(fields)) }
        let name = try value.text(at: FieldPath.root.member("assignee"), length: 1...Discrepancy.longestName)
        return Change(change: .assign(to: name), version: try version(fields))
    }

    /// The body of `POST …/comments`.
    static func comment(_ bytes: [UInt8]) throws(Problem) -> Change {
        let fields = try ObjectFields(try document(bytes), at: .root, allowed: ["text", "version"])
        return Change(change: .comment(try words(fields, "text")), version: try version(fields))
    }

    /// The body of `POST …/close`.
    static func close(_ bytes: [UInt8]) throws(Problem) -> Change {
        let fields = try ObjectFields(try document(bytes), at: .root, allowed: ["reason", "version"])
        return Change(change: .close(reason: try words(fields, "reason")), version: try version(fields))
    }

    private static func words(_ fields: ObjectFields, _ name: String) throws(Problem) -> String {
        try fields.required(name).text(at: FieldPath.root.member(name), length: 1...Discrepancy.longestText)
    }

    private static func version(_ fields: ObjectFields) throws(Problem) -> Int64 {
        try fields.required("version").integer(at: FieldPath.root.member("version"), in: 1...Int64.max)
    }

    private static func flag(_ fields: ObjectFields, _ name: String) throws(Problem) -> Bool {
        switch fields[name] {
        case nil: return false
        case .bool(let flag): return flag
        default: throw .malformed(FieldPath.root.member(name), "Must be true or false.")
        }
    }

    private static func moment(_ fields: ObjectFields, _ name: String) throws(Problem) -> Timestamp {
        guard case .string(let text) = try fields.required(name), let moment = Timestamp(utc: text) else {
            throw .malformed(FieldPath.root.member(name), Timestamp.utcForm)
        }
        return moment
    }
}
