package import PaymentCore
package import StrictJSON

/// The members of an object of which every name is known: what is missing, too much or of another type is a
/// problem that names its place. What the published schema refuses is 400; what only the daemon can know to
/// be impossible is 422.
package struct ObjectFields {
    /// Where the object is.
    package let path: FieldPath
    private let members: [String: JSONValue]

    /// Refuses anything but an object with `allowed` members.
    package init(_ value: JSONValue, at path: FieldPath, allowed: [String]) throws(Problem) {
        guard case .object(let list) = value else {
            throw .malformed(path, "Must be an object.")
        }
        var members: [String: JSONValue] = [:]
        for member in list {
            guard allowed.contains(member.name) else {
                let names = allowed.joined(separator: ", ")
                throw .malformed(path.member(member.name), "Unknown member; allowed: \(names).")
            }
            members[member.name] = member.value
        }
        self.path = path
        self.members = members
    }

    /// A member that may be absent. Null is not absent.
    package subscript(name: String) -> JSONValue? { members[name] }

    /// A member that must be there.
    package func required(_ name: String) throws(Problem) -> JSONValue {
        guard let value = members[name] else { throw .malformed(path.member(name), "Is required.") }
        return value
    }
}

extension JSONValue {
    /// A string of `length` characters (Unicode scalar values).
    package func text(at path: FieldPath, length: ClosedRange<Int>) throws(Problem) -> String {
        guard case .string(let text) = self else { throw .malformed(path, "Must be a string.") }
        guard length.contains(text.unicodeScalars.count) else {
            throw .malformed(path, "Must have \(length.lowerBound) to \(length.upperBound) characters.")
        }
        return text
    }

    /// A number that is written as an integer: no fraction, no exponent, no sign other than a minus.
    package func integer(at path: FieldPath, in range: ClosedRange<Int64>) throws(Problem) -> Int64 {
        guard case .number(let text) = self,
            text.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) }), text != "-0"
        else { throw .malformed(path, "Not an integer.") }
        guard let value = Int64(text), range.contains(value) else {
            throw .malformed(path, "Must be from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// An array of `count` items.
    package func items(at path: FieldPath, count: ClosedRange<Int>) throws(Problem) -> [JSONValue] {
        guard case .array(let items) = self else { throw .malformed(path, "Must be an array.") }
        guard count.contains(items.count) else {
            throw .malformed(path, "Must have \(count.lowerBound) to \(count.upperBound) items.")
        }
        return items
    }

    /// An amount above zero.
    package func positiveMoney(at path: FieldPath) throws(Problem) -> Money {
        let fields = try ObjectFields(self, at: path, allowed: ["value", "currency"])
        let value = try fields.required("value").integer(at: path.member("value"), in: 1...Int64.max)
        guard value <= ListedPosition.largestAmount else {
            throw .impossible(
                path.member("value"),
                "Must be at most \(ListedPosition.largestAmount) minor units: sums over many payments have to fit.")
        }
        let field = path.member("currency")
        let code = try fields.required("currency").text(at: field, length: 3...3)
        guard code.utf8.count == 3, code.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else {
            throw .malformed(field, "Must be three letters A to Z.")
        }
        guard let currency = Currency(code: code) else {
            throw .impossible(field, "Not an active currency of ISO 4217.")
        }
        do {
            return try Money(value, currency)
        } catch {
            throw .malformed(path.member("value"), "Must be above zero.")
        }
    }
}
