internal import PaymentCore

/// The parameters of a query, each at most once and each known.
package struct QueryParameters: Sendable, Hashable {
    private var values: [String: String] = [:]

    /// Reads `name=value&…` with percent-encoding, `+` for a space.
    ///
    /// - Parameter unsearched: Parameters whose values may hold a card number.
    package init(_ query: String?, allowed: [String], unsearched: Set<String> = []) throws(Problem) {
        guard let query, !query.isEmpty else { return }
        let names = allowed.isEmpty ? "none" : allowed.joined(separator: ", ")
        for pair in query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first, let name = QueryParameters.decoded(first),
                let value = QueryParameters.decoded(parts.dropFirst().first ?? "")
            else { throw .malformed(field: "query", "Not valid percent-encoded UTF-8.") }
            let shown = FieldPath.root.member(name).text
            guard !CardNumber.appears(in: name), unsearched.contains(name) || !CardNumber.appears(in: value) else {
                throw .cardNumber(field: shown)
            }
            guard allowed.contains(name) else {
                throw .malformed(field: shown, "Unknown parameter; allowed: \(names).")
            }
            guard values[name] == nil else { throw .malformed(field: shown, "The same parameter twice.") }
            values[name] = value
        }
    }

    /// The decoded value of a parameter; `nil` where the query does not have it.
    package subscript(name: String) -> String? { values[name] }

    /// How many entries a page has: 1 to 200, 50 if nothing is asked.
    package func limit() throws(Problem) -> Int {
        guard let text = values["limit"] else { return 50 }
        guard (1...3).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let limit = Int(text), (1...200).contains(limit)
        else { throw .malformed(field: "limit", "Must be an integer from 1 to 200.") }
        return limit
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.first {
            rest = rest.dropFirst()
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = nibble(rest.first), let low = nibble(rest.dropFirst().first) else {
                    return nil
                }
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func nibble(_ byte: UInt8?) -> UInt8? {
        byte.flatMap { Character(Unicode.Scalar($0)).hexDigitValue }.map { UInt8($0) }
    }
}
