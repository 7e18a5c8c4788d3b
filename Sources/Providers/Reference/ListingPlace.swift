internal import PaymentCore

/// The place of a transaction in a listing: when it changed last, as finely as the provider says it, then its key.
struct ListingPlace: Sendable, Hashable, Comparable {
    /// When it changed last, cut off to a millisecond.
    let instant: Timestamp
    /// The digits of the second's fraction below a millisecond, without zeros at the end.
    let finer: String
    /// The key.
    let key: String

    /// Reads what the provider shows; `nil` if it is no instant in UTC.
    init?(updatedAt text: String, key: String) {
        guard text.utf8.count <= 30, text.utf8.last == UInt8(ascii: "Z"), let instant = Timestamp(rfc3339: text) else {
            return nil
        }
        self.instant = instant
        self.key = key
        var digits = text.utf8.dropFirst(23).dropLast()
        while digits.last == UInt8(ascii: "0") { digits.removeLast() }
        finer = String(decoding: digits, as: UTF8.self)
    }

    static func < (left: ListingPlace, right: ListingPlace) -> Bool {
        if left.instant != right.instant { return left.instant < right.instant }
        if left.finer != right.finer { return left.finer < right.finer }
        return left.key.utf8.lexicographicallyPrecedes(right.key.utf8)
    }

    private init(instant: Timestamp, finer: String, key: String) {
        self.instant = instant
        self.finer = finer
        self.key = key
    }

    /// The place as it is kept in a cursor.
    fileprivate var fields: String { "\(instant.milliseconds) \(finer) \(key.utf8.count) \(key)" }

    /// Reads ``fields`` and what follows them.
    fileprivate static func read(_ text: String) -> (position: ListingPlace, rest: String)? {
        let parts = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let milliseconds = Int64(parts[0]), parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
            let length = Int(parts[2]), (1...128).contains(length), parts[3].utf8.count > length
        else { return nil }
        let position = ListingPlace(
            instant: Timestamp(milliseconds: milliseconds), finer: String(parts[1]),
            key: String(decoding: parts[3].utf8.prefix(length), as: UTF8.self))
        return (position, String(decoding: parts[3].utf8.dropFirst(length), as: UTF8.self))
    }
}

/// Where the next page begins: the provider's cursor, and the last place before it.
///
/// The place is kept with the cursor, so that the order is watched from one page to the next and after a restart too.
struct ListingCursor: Sendable, Hashable {
    /// The last place of the page before.
    let last: ListingPlace
    /// The provider's own cursor.
    let text: String

    /// A cursor.
    init(last: ListingPlace, text: String) {
        self.last = last
        self.text = text
    }

    /// Reads ``kept``; `nil` if it is anything else.
    init?(kept: String) {
        guard let (last, text) = ListingPlace.read(kept), !text.isEmpty else { return nil }
        self.init(last: last, text: text)
    }

    /// Both as one text, without meaning to whoever keeps it.
    var kept: String { last.fields + text }
}
