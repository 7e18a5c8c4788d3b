internal import HTTPEdge
internal import PaymentCore
internal import StrictJSON

/// Documents of the operations API as templates read them: dictionaries, arrays, texts and flags.
///
/// What is null is not there, so that a section of it is empty. Amounts get a text in major units beside their value.
/// Nothing here is HTML: templates escape whatever they are given.
enum ViewModel {
    /// The members of a document.
    static func members(_ json: JSONValue) -> [String: Any] { value(json) as? [String: Any] ?? [:] }

    /// The members of a document in bytes; none where it cannot be read.
    static func members(_ bytes: [UInt8]) -> [String: Any] {
        do {
            return members(try JSONReader.read(bytes, maximumDepth: 24))
        } catch {
            return [:]
        }
    }

    private static func value(_ json: JSONValue) -> Any? {
        switch json {
        case .null: return nil
        case .bool(let flag): return flag
        case .number(let text), .string(let text): return text
        case .array(let items): return items.compactMap(value)
        case .object(let members):
            var known: [String: Any] = [:]
            for member in members { known[member.name] = value(member.value) }
            if members.count == 2, let amount = amount(members) { known["text"] = amount }
            return known
        }
    }

    /// An amount, if that is what an object holds.
    private static func amount(_ members: [JSONMember]) -> String? {
        var value: Int64?
        var currency: Currency?
        for member in members {
            switch (member.name, member.value) {
            case ("value", .number(let text)): value = Int64(text)
            case ("currency", .string(let code)): currency = Currency(code: code)
            default: return nil
            }
        }
        guard let value, let currency else { return nil }
        return amount(value, currency)
    }

    /// An amount in major units, with its currency.
    static func amount(_ value: Int64, _ currency: Currency) -> String {
        let digits = currency.minorUnitDigits
        var text = String(value.magnitude)
        if text.count <= digits { text = String(repeating: "0", count: digits + 1 - text.count) + text }
        let major = text.dropLast(digits)
        var grouped = ""
        for (index, digit) in major.enumerated() {
            if index > 0, (major.count - index) % 3 == 0 { grouped.append(",") }
            grouped.append(digit)
        }
        let minor = digits > 0 ? ".\(text.suffix(digits))" : ""
        return "\(value < 0 ? "−" : "")\(grouped)\(minor) \(currency.code)"
    }
}
