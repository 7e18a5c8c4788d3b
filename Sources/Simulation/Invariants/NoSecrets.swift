public import PaymentCore

/// Invariant 14. Nothing that charges somebody is written where people read.
public struct NoSecrets: Invariant {
    /// Its number in the protocol.
    public static let number = 14
    /// What holds.
    public static let sentence = "no card number, security code or secret in a log, row, error or trace"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// Instruments shorter than this cannot be told from ordinary words.
    private static let shortestToken = 8
    /// Each has a sign in it that no effect key has, whatever letters that may be made of.
    private static let markers: [[UInt8]] = [
        "bearer ", "cvv ", "cvv=", "cvc ", "cvc=", "secret=", "password=",
    ].map {
        Array($0.utf8)
    }

    /// The tokens of the instruments of a payment, to be found in no text.
    private var tokens: [PaymentID: [[UInt8]]] = [:]

    /// Fields that hold a derived key or identifier.
    private static let derived: Set<String> = ["key", "refund", "run", "undoes", "for"]

    /// The invariant.
    public init() {}

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let payment = commit.after
        if commit.before == nil, tokens[payment.id] == nil {
            tokens[payment.id] = payment.legs.map { Array($0.instrument.token.utf8) }
                .filter { $0.count >= NoSecrets.shortestToken }
        }
        let own = tokens[payment.id] ?? []
        for entry in commit.entries {
            for field in entry.fields {
                // Derived keys and identifiers hold digits by chance; invariant 10 says that they are nothing
                // else.
                let isDerived = NoSecrets.derived.contains(field.name)
                scan(field.value, own, "an audit entry", payment.id, at, mayHoldCard: !isDerived)
            }
        }
        if let detail = payment.conclusion?.reason?.detail ?? payment.stopReason?.detail {
            // What undoes a transaction names the run that found it.
            scan(detail, own, "a reason", payment.id, at, mayHoldCard: !payment.isUndoing)
        }
    }

    /// Judges what people are told.
    public mutating func told(_ words: String, payment: PaymentID, at: Timestamp) {
        scan(words, tokens[payment] ?? [], "a message", payment, at)
    }

    private mutating func scan(
        _ text: String, _ tokens: [[UInt8]], _ field: String, _ payment: PaymentID, _ at: Timestamp,
        mayHoldCard: Bool = true
    ) {
        // Keys, times and short words are most of what is written; nothing as short as this can give anything
        // away.
        guard text.utf8.count >= 4 else { return }
        if mayHoldCard {
            findings.require(!CardNumber.appears(in: text), at, payment, "a card number in \(field)")
        }
        for token in tokens {
            findings.require(
                !NoSecrets.holds(text, token, ignoringCase: false), at, payment, "an instrument in \(field)")
        }
        for marker in NoSecrets.markers {
            findings.require(
                !NoSecrets.holds(text, marker, ignoringCase: true), at, payment, "a secret in \(field)")
        }
    }

    private static func holds(_ text: String, _ wanted: [UInt8], ignoringCase: Bool) -> Bool {
        guard let first = wanted.first, text.utf8.count >= wanted.count else { return false }
        let bytes = text.utf8
        var start = bytes.startIndex
        while start != bytes.endIndex {
            if lowered(bytes[start], ignoringCase) == first {
                var position = start
                var matched = 0
                while position != bytes.endIndex, matched < wanted.count,
                    lowered(bytes[position], ignoringCase) == wanted[matched]
                {
                    matched += 1
                    position = bytes.index(after: position)
                }
                if matched == wanted.count { return true }
            }
            start = bytes.index(after: start)
        }
        return false
    }

    private static func lowered(_ byte: UInt8, _ ignoringCase: Bool) -> UInt8 {
        ignoringCase && byte >= 0x41 && byte <= 0x5A ? byte + 0x20 : byte
    }
}
