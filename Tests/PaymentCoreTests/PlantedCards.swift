import SeededChance

/// Card numbers of every scheme, made from the ranges that its issuers have, and hidden in every way that is known.
///
/// The table is written down here once more, so that a range that is lost in the core is missed here.
struct PlantedCards {
    struct Scheme {
        var name: String
        var prefixes: [ClosedRange<Int>]
        var lengths: [Int]
    }

    /// What hides a number.
    enum Disguise: CaseIterable {
        case none, words, letters, grouped, spaced, digitByDigit, fullWidth, arabic, otherScripts, zeroWidth, everything
    }

    static let schemes: [Scheme] = [
        Scheme(name: "Visa", prefixes: [4...4], lengths: [13, 16, 19]),
        Scheme(name: "Mastercard", prefixes: [51...55, 2221...2720], lengths: [16]),
        Scheme(name: "American Express", prefixes: [34...34, 37...37], lengths: [15]),
        Scheme(name: "Diners Club", prefixes: [300...305, 3095...3095, 38...39], lengths: [14, 16, 17, 18, 19]),
        Scheme(name: "Diners Club 36", prefixes: [36...36], lengths: [14, 15, 16, 17, 18, 19]),
        Scheme(
            name: "Discover", prefixes: [6011...6011, 644...649, 65...65, 622126...622925], lengths: [16, 17, 18, 19]),
        Scheme(name: "JCB", prefixes: [3528...3589], lengths: [16, 17, 18, 19]),
        Scheme(name: "UnionPay", prefixes: [62...62, 81...81], lengths: [16, 17, 18, 19]),
        Scheme(name: "Maestro", prefixes: [50...50, 56...58, 60...69], lengths: [16, 17, 18, 19]),
        Scheme(name: "Mir", prefixes: [2200...2204], lengths: [16, 17, 18, 19]),
        Scheme(name: "RuPay", prefixes: [60...60, 65...65, 81...82, 508...508, 353...353, 356...356], lengths: [16]),
        Scheme(name: "Troy", prefixes: [9792...9792], lengths: [16]),
    ]

    /// Zeros of the scripts that a number may be written in.
    private static let scripts: [UInt32] = [0x30, 0xFF10, 0x660, 0x6F0, 0x966, 0xE50, 0x1D7CE, 0x1D7F6, 0x1FBF0]
    private static let separators = [
        " ", "-", ".", "/", "_", "\u{A0}", "\u{2009}", "\u{202F}", "\u{3000}", "‐", "–", "—", "−", "－", "．", "／", "·",
        "・", ",", ":", "|", "\t", "\n", " - ", "\u{200B}\u{2007}\u{200B}", "\\", "+", "⁄", "＿",
    ]
    private static let nothings = ["\u{200B}", "\u{200C}", "\u{200D}", "\u{2060}", "\u{FEFF}", "\u{AD}", "\u{200E}"]
    private var chance: SeededChance

    init(seed: UInt64) { chance = SeededChance(seed: seed) }

    /// The next number of a scheme, hidden.
    mutating func next(of scheme: Scheme, in disguise: Disguise) -> String {
        let number = number(of: scheme)
        switch disguise {
        case .none: return number
        case .words: return "tok_\(number)/x"
        case .letters: return "card\(number)です"
        case .grouped: return grouped(number, by: chance.pick(["-", " "], else: "-"))
        case .spaced: return "paid with " + grouped(number, by: chance.pick(Self.separators, else: " ")) + " 12/27"
        case .digitByDigit: return number.map(String.init).joined(separator: chance.pick(Self.separators, else: " "))
        case .fullWidth: return inScript(number, 0xFF10)
        case .arabic: return inScript(number, 0x660)
        case .otherScripts: return inScript(number, chance.pick(Self.scripts, else: 0x30))
        case .zeroWidth: return number.map(String.init).joined(separator: chance.pick(Self.nothings, else: ""))
        case .everything:
            let script = chance.pick(Self.scripts, else: 0x30)
            let hidden = grouped(number, by: chance.pick(Self.separators, else: " ")).unicodeScalars.map { scalar in
                let nothing = chance.pick(Self.nothings, else: "")
                return inScript(String(Character(scalar)), script) + nothing
            }
            return "注文 " + hidden.joined() + " 様"
        }
    }

    /// Whether the last digit is that of ISO/IEC 7812-1 (Luhn).
    static func hasCheckDigit(_ number: String) -> Bool {
        sum(number.compactMap(\.wholeNumberValue).reversed()) % 10 == 0
    }

    private static func sum(_ reversed: [Int]) -> Int {
        reversed.enumerated().reduce(0) { sum, entry in
            let digit = entry.offset % 2 == 1 ? entry.element * 2 : entry.element
            return sum + (digit > 9 ? digit - 9 : digit)
        }
    }

    private mutating func number(of scheme: Scheme) -> String {
        let length = chance.pick(scheme.lengths, else: 16)
        let range = chance.pick(scheme.prefixes, else: 4...4)
        while true {
            var body = String(range.lowerBound + chance.below(range.count))
            while body.count < length - 1 { body += String(chance.below(10)) }
            guard let last = (0...9).first(where: { PlantedCards.hasCheckDigit(body + String($0)) }) else { continue }
            let number = body + String(last)
            // Thirteen digits that are a JAN as well cannot be told from one, and nobody issues them any more.
            if length != 13 || !Self.isArticle(number) { return number }
        }
    }

    private static func isArticle(_ number: String) -> Bool {
        let digits = number.compactMap(\.wholeNumberValue)
        return digits.enumerated().reduce(0) { $0 + $1.element * ($1.offset % 2 == 0 ? 1 : 3) } % 10 == 0
    }

    /// As it is printed on the card: four by four, those of fourteen and fifteen digits also in three groups.
    private mutating func grouped(_ number: String, by separator: String) -> String {
        var sizes: [Int] = Array(repeating: 4, count: 5)
        if number.count == 15, chance.happens(percent: 50) { sizes = [4, 6, 5] }
        if number.count == 14, chance.happens(percent: 50) { sizes = [4, 6, 4] }
        if number.count == 16, chance.happens(percent: 20) { sizes = [8, 8] }
        var rest = Substring(number)
        var groups: [String] = []
        for size in sizes where !rest.isEmpty {
            groups.append(String(rest.prefix(size)))
            rest = rest.dropFirst(size)
        }
        return groups.joined(separator: separator)
    }

    private func inScript(_ text: String, _ zero: UInt32) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    guard (0x30...0x39).contains(scalar.value) else { return scalar }
                    return Unicode.Scalar(zero + scalar.value - 0x30) ?? scalar
                }))
    }
}
