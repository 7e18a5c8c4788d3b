package import PaymentCore

extension Timestamp {
    /// Reads RFC 3339 as the published schema narrows it: in UTC, with `T` and `Z`, and at most nine digits
    /// of a second's fraction.
    package init?(utc text: String) {
        let isNarrow = text.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || [0x2D, 0x2E, 0x3A, 0x54, 0x5A].contains(byte)
        }
        guard isNarrow, text.utf8.count <= 30, text.hasSuffix("Z") else { return nil }
        self.init(rfc3339: text)
    }
}
