package import PaymentCore

extension Timestamp {
    /// What is allowed where a moment is asked for.
    package static let utcForm = "Must be RFC 3339 in UTC, with Z or +00:00."

    /// Reads RFC 3339 as the published schema narrows it: in UTC, with `T`, with `Z` or `+00:00` (as many libraries
    /// write UTC), and at most nine digits of a second's fraction.
    package init?(utc text: String) {
        let isNarrow = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E, 0x3A, 0x54, 0x5A].contains(byte)
        }
        guard isNarrow, text.utf8.count <= 35, text.hasSuffix("Z") || text.hasSuffix("+00:00") else { return nil }
        self.init(rfc3339: text)
    }
}
