/// `Prefer: wait=N` of RFC 7240: how many seconds the caller wants to wait for the settled answer.
enum WaitPreference {
    /// The first `wait` in the header's values; `nil` if there is none, or none that parses.
    static func seconds(in values: [String]) -> Int64? {
        for value in values {
            for preference in value.split(separator: ",") {
                let token = preference.prefix { $0 != ";" }
                guard let sign = token.firstIndex(of: "=") else { continue }
                guard trimmed(token[..<sign]).lowercased() == "wait" else { continue }
                return number(trimmed(token[token.index(after: sign)...]))
            }
        }
        return nil
    }

    private static func number(_ text: Substring) -> Int64? {
        var digits = text
        if digits.count >= 2, digits.first == "\"", digits.last == "\"" {
            digits = digits.dropFirst().dropLast()
        }
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        // More digits than fit are more than any wait that is granted.
        return Int64(digits) ?? .max
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        let rest = text.drop(while: isBlank)
        return rest[..<(rest.lastIndex { !isBlank($0) }.map { rest.index(after: $0) } ?? rest.startIndex)]
    }
}
