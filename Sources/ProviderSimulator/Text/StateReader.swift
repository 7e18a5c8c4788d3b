/// Reads what `TransactionState` writes, and nothing else: nil at the first byte that is not where it writes it.
struct StateReader {
    private let utf8: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ utf8: UnsafeBufferPointer<UInt8>) {
        self.utf8 = utf8
    }

    mutating func record() -> TransactionRecord? {
        guard take(#"{"key":"#), let key = string(), take(#","status":"#),
            let status = string().flatMap(TransactionStatus.init), take(#","createdAt":"#), let createdAt = number(),
            take(#","updatedAt":"#), let updatedAt = number()
        else { return nil }
        var record = TransactionRecord(key: key, status: status, createdAt: createdAt, updatedAt: updatedAt)
        if take(#","kind":"#) {
            guard let kind = string().flatMap(TransactionKind.init) else { return nil }
            record.kind = kind
        }
        if take(#","amount":"#) {
            guard let amount = amount() else { return nil }
            record.amount = amount
        }
        if take(#","authorizedUntil":"#) {
            guard let until = number() else { return nil }
            record.authorizedUntil = until
        }
        guard take(#","metadata":{"#), let metadata = members() else { return nil }
        record.metadata = metadata
        if take(#","reason":"#) {
            guard let reason = string() else { return nil }
            record.reason = reason
        }
        if take(#","fingerprint":"#) {
            guard let fingerprint = string() else { return nil }
            record.fingerprint = fingerprint
        }
        return rest(of: record)
    }

    private mutating func rest(of record: TransactionRecord) -> TransactionRecord? {
        var record = record
        guard take(#","behaviour":"#), let behaviour = string().flatMap(InstrumentBehaviour.init),
            take(#","declineIsBound":"#), let isBound = flag(), take(#","unboundDeclines":"#), let declines = number()
        else { return nil }
        record.behaviour = behaviour
        record.declineIsBound = isBound
        record.unboundDeclines = Int(declines)
        if take(#","resolution":"#) {
            guard let resolution = resolution() else { return nil }
            record.resolution = resolution
        }
        guard take(#","captures":["#), let captures = list({ $0.entry() }), take(#","refunds":["#),
            let refunds = list({ $0.entry() })
        else { return nil }
        record.captures = captures
        record.refunds = refunds
        if take(#","disputes":["#) {
            guard let disputes = list({ $0.dispute() }) else { return nil }
            record.disputes = disputes
        }
        return take("}") && position == utf8.count ? record : nil
    }

    /// After the opening bracket.
    private mutating func list<Item>(_ item: (inout StateReader) -> Item?) -> [Item]? {
        var items: [Item] = []
        while !take("]") {
            guard items.isEmpty || take(","), let next = item(&self) else { return nil }
            items.append(next)
        }
        return items
    }

    private mutating func dispute() -> DisputeRecord? {
        guard take(#"{"id":"#), let id = string(), take(#","amount":"#), let amount = amount(),
            take(#","status":"#), let status = string().flatMap(DisputeStatus.init), take(#","createdAt":"#),
            let createdAt = number(), take("}")
        else { return nil }
        return DisputeRecord(id: id, amount: amount, status: status, createdAt: createdAt)
    }

    private mutating func entry() -> Entry? {
        guard take(#"{"key":"#), let key = string(), take(#","amount":"#), let amount = amount(),
            take(#","requested":"#), let requested = self.amount(), take(#","status":"#),
            let status = string().flatMap(EntryStatus.init), take(#","createdAt":"#), let createdAt = number()
        else { return nil }
        var entry = Entry(key: key, amount: amount, requested: requested, status: status, createdAt: createdAt)
        if take(#","reason":"#) {
            guard let reason = string() else { return nil }
            entry.reason = reason
        }
        guard take(#","declineIsBound":"#), let isBound = flag() else { return nil }
        entry.declineIsBound = isBound
        if take(#","resolution":"#) {
            guard let resolution = resolution() else { return nil }
            entry.resolution = resolution
        }
        return take("}") ? entry : nil
    }

    private mutating func resolution() -> Resolution? {
        guard take(#"{"at":"#), let at = number(), take(#","succeeds":"#), let succeeds = flag(), take("}") else {
            return nil
        }
        return Resolution(at: at, succeeds: succeeds)
    }

    private mutating func amount() -> Amount? {
        guard take(#"{"value":"#), let value = number(), take(#","currency":"#), let currency = string(), take("}")
        else { return nil }
        return Amount(value: value, currency: currency)
    }

    /// After the opening brace.
    private mutating func members() -> [String: String]? {
        var members: [String: String] = [:]
        while !take("}") {
            guard members.isEmpty || take(","), let name = string(), take(":"), let value = string() else { return nil }
            members[name] = value
        }
        return members
    }

    private mutating func take(_ expected: StaticString) -> Bool {
        let count = expected.utf8CodeUnitCount
        guard utf8.count - position >= count else { return false }
        let matches = expected.withUTF8Buffer { $0.elementsEqual(utf8[position..<position + count]) }
        if matches { position += count }
        return matches
    }

    /// Nil for one with an escape as well: they are rare.
    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        let start = position
        while position < utf8.count, utf8[position] != UInt8(ascii: "\"") {
            guard utf8[position] != UInt8(ascii: "\\") else { return nil }
            position += 1
        }
        guard position < utf8.count else { return nil }
        position += 1
        return String(decoding: UnsafeBufferPointer(rebasing: utf8[start..<position - 1]), as: UTF8.self)
    }

    private mutating func flag() -> Bool? {
        if take("true") { return true }
        return take("false") ? false : nil
    }

    /// Nil for what does not fit.
    private mutating func number() -> Int64? {
        let isNegative = take("-")
        var value: Int64 = 0
        let start = position
        while position < utf8.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(utf8[position]) {
            let digit = Int64(utf8[position] - UInt8(ascii: "0"))
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeAfter) = product.subtractingReportingOverflow(digit)
            guard !isTooLarge, !isTooLargeAfter else { return nil }
            value = sum  // Negative while it grows: the range reaches one further there.
            position += 1
        }
        guard position > start, isNegative || value != .min else { return nil }
        return isNegative ? value : -value
    }
}
