internal import StrictJSON

/// An answer that is no JSON, or whose members are missing, of another type or out of bounds.
///
/// It says no more, because whatever the reason, the answer is evidence of nothing, and the reason may quote it.
struct MalformedAnswer: Error {}

/// The members of an object in a provider's answer. Those that nobody asks for are ignored.
struct AnswerObject {
    /// Arrays and objects within each other in an answer; a listing needs five.
    static let maximumDepth = 32

    private let members: [JSONMember]

    /// Reads a whole body, which must be an object.
    ///
    /// Strictly: a body that has a member twice says two things, and which of them holds is not ours to choose.
    init(body: [UInt8]) throws(MalformedAnswer) {
        let document: JSONValue
        do {
            document = try JSONReader.read(body, maximumDepth: AnswerObject.maximumDepth)
        } catch {
            throw MalformedAnswer()
        }
        try self.init(document)
    }

    private init(_ value: JSONValue) throws(MalformedAnswer) {
        guard case .object(let members) = value else { throw MalformedAnswer() }
        self.members = members
    }

    /// A member that must be there, though it may be null.
    func required(_ name: String) throws(MalformedAnswer) -> JSONValue {
        guard let value = members.first(where: { $0.name == name })?.value else { throw MalformedAnswer() }
        return value
    }

    /// A member that may be absent; null is absent too.
    func optional(_ name: String) -> JSONValue? {
        guard let value = members.first(where: { $0.name == name })?.value else { return nil }
        if case .null = value { return nil }
        return value
    }

    /// A string that must be there.
    func text(_ name: String) throws(MalformedAnswer) -> String { try Self.text(required(name)) }

    /// A string that may be absent.
    func optionalText(_ name: String) throws(MalformedAnswer) -> String? {
        guard let value = optional(name) else { return nil }
        return try Self.text(value)
    }

    /// One of a list of words that must be there.
    func word<Word: RawRepresentable<String>>(_ name: String) throws(MalformedAnswer) -> Word {
        try Self.word(required(name))
    }

    /// One of a list of words that may be absent.
    func optionalWord<Word: RawRepresentable<String>>(_ name: String) throws(MalformedAnswer) -> Word? {
        guard let value = optional(name) else { return nil }
        return try Self.word(value)
    }

    /// A whole number that must be there.
    func wholeNumber(_ name: String) throws(MalformedAnswer) -> Int64 { try Self.wholeNumber(required(name)) }

    /// A whole number that may be absent.
    func optionalWholeNumber(_ name: String) throws(MalformedAnswer) -> Int64? {
        guard let value = optional(name) else { return nil }
        return try Self.wholeNumber(value)
    }

    /// An object that must be there.
    func object(_ name: String) throws(MalformedAnswer) -> AnswerObject { try AnswerObject(required(name)) }

    /// An object that may be absent.
    func optionalObject(_ name: String) throws(MalformedAnswer) -> AnswerObject? {
        guard let value = optional(name) else { return nil }
        return try AnswerObject(value)
    }

    /// An array of objects that must be there.
    func list<Item>(
        _ name: String, of item: (AnswerObject) throws(MalformedAnswer) -> Item
    ) throws(MalformedAnswer) -> [Item] {
        guard case .array(let values) = try required(name) else { throw MalformedAnswer() }
        var items: [Item] = []
        items.reserveCapacity(values.count)
        for value in values { items.append(try item(AnswerObject(value))) }
        return items
    }

    /// An array of objects that may be absent.
    func optionalList<Item>(
        _ name: String, of item: (AnswerObject) throws(MalformedAnswer) -> Item
    ) throws(MalformedAnswer) -> [Item] {
        optional(name) == nil ? [] : try list(name, of: item)
    }

    /// An object of strings that may be absent, such as metadata.
    func optionalTexts(_ name: String) throws(MalformedAnswer) -> [String: String] {
        guard let object = try optionalObject(name) else { return [:] }
        var texts: [String: String] = [:]
        for member in object.members { texts[member.name] = try Self.text(member.value) }
        return texts
    }

    /// A truth value that must be there.
    func flag(_ name: String) throws(MalformedAnswer) -> Bool {
        guard case .bool(let flag) = try required(name) else { throw MalformedAnswer() }
        return flag
    }

    /// A truth value that may be absent.
    func optionalFlag(_ name: String) throws(MalformedAnswer) -> Bool? {
        optional(name) == nil ? nil : try flag(name)
    }

    private static func text(_ value: JSONValue) throws(MalformedAnswer) -> String {
        guard case .string(let text) = value else { throw MalformedAnswer() }
        return text
    }

    private static func word<Word: RawRepresentable<String>>(_ value: JSONValue) throws(MalformedAnswer) -> Word {
        guard let word = Word(rawValue: try text(value)) else { throw MalformedAnswer() }
        return word
    }

    private static func wholeNumber(_ value: JSONValue) throws(MalformedAnswer) -> Int64 {
        guard case .number(let text) = value, let number = WholeNumber.read(text) else { throw MalformedAnswer() }
        return number
    }
}

/// Whole numbers as JSON may write them.
enum WholeNumber {
    /// The whole number that a number of JSON stands for, also where it is written as `12.0` or `1.2e1`; `nil` if it
    /// has a fraction, needs more than 64 bits or has an exponent beyond reason. Nothing is rounded.
    static func read(_ text: String) -> Int64? {
        if let number = Int64(text) { return number }
        let parts = text.split { $0 == "e" || $0 == "E" }
        guard let mantissa = parts.first, let exponent = parts.count == 2 ? Int(parts[1]) : 0,
            (-100...100).contains(exponent)
        else { return nil }
        let halves = mantissa.split(separator: ".")
        var digits = halves.joined()
        // How many zeros follow the digits; below zero, how many of the digits are a fraction.
        var zeros = halves.count == 2 ? exponent - halves[1].utf8.count : exponent
        while zeros < 0, digits.last == "0" {
            digits.removeLast()
            zeros += 1
        }
        if digits.utf8.allSatisfy({ $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: "-") }) { return 0 }
        return zeros < 0 ? nil : Int64(digits + String(repeating: "0", count: zeros))
    }
}
