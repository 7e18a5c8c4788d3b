internal import PaymentCore
package import StrictJSON

/// Looks for card numbers in a whole document: in every string, every number and every member's name.
package enum CardNumberScan {
    /// The place of the first card number, `nil` if there is none. The place never shows the number itself.
    ///
    /// - Parameter accepts: Whether what stands at a place is not searched, with all that it holds.
    package static func find(
        in value: JSONValue, at path: FieldPath = .root, accepts: (FieldPath) -> Bool = { _ in false }
    ) -> FieldPath? {
        guard !accepts(path) else { return nil }
        switch value {
        case .null, .bool: return nil
        case .number(let text), .string(let text): return CardNumber.appears(in: text) ? path : nil
        case .array(let items):
            for (index, item) in items.enumerated() {
                if let found = find(in: item, at: path.item(index), accepts: accepts) { return found }
            }
            return nil
        case .object(let members):
            for member in members {
                let field = path.member(member.name)
                if CardNumber.appears(in: member.name) { return field }
                // An amount is a count, not a name: its digits may pass the check of a card number by chance.
                if member.name == "value", case .number = member.value { continue }
                if let found = find(in: member.value, at: field, accepts: accepts) { return found }
            }
            return nil
        }
    }
}
