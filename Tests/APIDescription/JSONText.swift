internal import Foundation

/// A JSON document, or a YAML one that is none but in its form.
package enum JSONText: Sendable, Hashable, Decodable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([JSONText])
    case object([String: JSONText])

    package init(_ text: String) throws {
        self = try JSONDecoder().decode(JSONText.self, from: Data(text.utf8))
    }

    package init(from decoder: any Decoder) throws {
        if let object = try? decoder.container(keyedBy: Name.self) {
            var members: [String: JSONText] = [:]
            for key in object.allKeys { members[key.stringValue] = try object.decode(JSONText.self, forKey: key) }
            self = .object(members)
            return
        }
        if var list = try? decoder.unkeyedContainer() {
            var items: [JSONText] = []
            while !list.isAtEnd { items.append(try list.decode(JSONText.self)) }
            self = .array(items)
            return
        }
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if let flag = try? value.decode(Bool.self) {
            self = .bool(flag)
        } else if let number = try? value.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? value.decode(Double.self) {
            self = .number(number)
        } else {
            self = .string(try value.decode(String.self))
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { stringValue = String(intValue) }
    }

    package subscript(member: String) -> JSONText? {
        guard case .object(let members) = self else { return nil }
        return members[member]
    }

    package var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    package var integer: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }

    package var items: [JSONText] {
        guard case .array(let items) = self else { return [] }
        return items
    }

    package var members: [String: JSONText] {
        guard case .object(let members) = self else { return [:] }
        return members
    }
}
