internal import PaymentCore

/// Words of a provider made fit for the audit trail, for logs and for callers: short, plain, and nothing
/// secret.
enum ShortCode {
    /// The longest code that is kept.
    static let longest = 64

    /// A provider's reference as it is, so that people find it again there; what it may not hold is replaced.
    static func reference(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."): true
            default: false
            }
        }
        return isPlain && !CardNumber.appears(in: text) ? text : of(text) ?? "withheld"
    }

    /// The text, cut to ``longest``, with everything but `a-z 0-9 _ . -` (and capitals, lowered) replaced by
    /// `_`; `nil` for an empty text.
    ///
    /// What might hold a card number is not repeated at all.
    static func of(_ text: String?) -> String? {
        guard let text, !text.isEmpty else { return nil }
        guard !CardNumber.appears(in: text) else { return "withheld" }
        var code = ""
        for byte in text.utf8.prefix(longest) {
            switch byte {
            case 0x41...0x5A: code.unicodeScalars.append(Unicode.Scalar(byte | 0x20))
            case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."):
                code.unicodeScalars.append(Unicode.Scalar(byte))
            default: code.append("_")
            }
        }
        return code
    }
}
