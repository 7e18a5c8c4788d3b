import SeededChance

/// Keys and references as people make them, from a seed.
struct UsualKeys {
    /// How a key is made.
    enum Kind: CaseIterable {
        case dateAndTime, groupedDateAndTime, epoch, journalArticle, uuid, hexadecimal, ulid, orderNumber
    }

    /// How many of each kind are looked at: with the kinds, more than 300,000 keys.
    static let count = 40_000

    private static let hex = Array("0123456789abcdef")
    private static let crockford = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
    private static let prefixes = ["", "order-", "ORD", "inv_", "PO/", "注文", "ref:"]
    private var chance: SeededChance

    init(seed: UInt64) { chance = SeededChance(seed: seed) }

    /// The next key of a kind.
    mutating func next(_ kind: Kind) -> String {
        let prefix = chance.pick(Self.prefixes, else: "")
        switch kind {
        case .dateAndTime: return prefix + moment().joined() + chance.pick(["", digits(1), digits(3)], else: "")
        case .groupedDateAndTime: return prefix + groupedMoment()
        case .epoch: return prefix + epoch()
        case .journalArticle: return prefix + article()
        case .uuid: return prefix + uuid()
        case .hexadecimal: return prefix + text(chance.pick([16, 24, 32, 40, 64], else: 16), of: Self.hex)
        case .ulid: return prefix + "01" + text(24, of: Self.crockford)
        case .orderNumber: return orderNumber()
        }
    }

    /// Year, month, day, hour, minute, second.
    private mutating func moment() -> [String] {
        ["20" + two(20..<40), two(1..<13), two(1..<29), two(0..<24), two(0..<60), two(0..<60)]
    }

    private mutating func groupedMoment() -> String {
        let part = moment()
        let (date, time) = (part[0..<3].joined(separator: "-"), part[3...].joined(separator: ":"))
        let plain = part.joined()
        switch chance.below(7) {
        case 0: return "\(date) \(time).\(digits(3))"
        case 1: return "\(date)T\(time)Z"
        case 2: return "\(plain.prefix(8))-\(plain.dropFirst(8))-\(digits(4))"
        case 3: return part.joined(separator: chance.pick(["-", "/", ".", " ", "_"], else: "-"))
        case 4: return "\(part[2])/\(part[1])/\(part[0]) \(time)"
        case 5: return "\(part[2]).\(part[1]).\(part[0]) \(part[3]).\(part[4]).\(part[5])"
        default: return "\(plain.dropFirst(2).prefix(6))-\(digits(chance.pick([4, 6, 8, 10], else: 4)))"
        }
    }

    private mutating func epoch() -> String {
        let second = String(1_600_000_000 + chance.below(400_000_000))
        return second + digits(chance.pick([0, 3, 6, 9], else: 3))
    }

    /// A number of 8, 12, 13 or 14 digits with the check digit of GS1, most of 13 and of Japan.
    private mutating func article() -> String {
        let body =
            switch chance.below(6) {
            case 0: digits(7)
            case 1: digits(11)
            case 2: "1" + chance.pick(["45", "49"], else: "45") + digits(10)
            case 3: digits(12)
            default: chance.pick(["45", "49"], else: "45") + digits(10)
            }
        let sum = body.reversed().enumerated().reduce(0) { sum, entry in
            sum + (entry.element.wholeNumberValue ?? 0) * (entry.offset % 2 == 0 ? 3 : 1)
        }
        return body + String((10 - sum % 10) % 10)
    }

    /// Version 4 and version 7, as programs write them.
    private mutating func uuid() -> String {
        let version = chance.pick(["4", "7"], else: "4")
        let variant = chance.pick(["8", "9", "a", "b"], else: "8")
        let begin = version == "7" ? "019" + text(5, of: Self.hex) : text(8, of: Self.hex)
        let parts = [
            begin, text(4, of: Self.hex), version + text(3, of: Self.hex), variant + text(3, of: Self.hex),
            text(12, of: Self.hex),
        ]
        let uuid = parts.joined(separator: chance.pick(["-", "-", "-", ""], else: "-"))
        return chance.happens(percent: 25) ? uuid.uppercased() : uuid
    }

    private mutating func orderNumber() -> String {
        let day = moment()[0..<3].joined()
        switch chance.below(8) {
        case 0: return "order-\(day)-\(digits(6))"
        case 1: return "ORD\(digits(chance.pick([6, 8, 10, 12], else: 8)))"
        case 2: return "\(chance.pick(["250", "503", "402", "305"], else: "250"))-\(digits(7))-\(digits(7))"
        case 3: return "4500\(digits(6))-\(digits(6))"
        case 4: return "#\(digits(4))-\(digits(4))-\(digits(4))"
        case 5: return "\(digits(2))-\(digits(2))-\(digits(4))-\(digits(4))-\(digits(3))"
        case 6: return "+81-90-\(digits(4))-\(digits(4))"
        default: return "customer-\(digits(7))/cart-\(digits(7))/try-\(digits(1))"
        }
    }

    private mutating func two(_ range: Range<Int>) -> String {
        let number = range.lowerBound + chance.below(range.count)
        return number < 10 ? "0\(number)" : String(number)
    }

    private mutating func digits(_ count: Int) -> String { text(count, of: Array("0123456789")) }

    private mutating func text(_ count: Int, of letters: [Character]) -> String {
        String((0..<count).map { _ in chance.pick(letters, else: "0") })
    }
}
