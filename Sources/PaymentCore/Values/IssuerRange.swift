/// The numbers that a card scheme's issuers may give out: how they begin (the issuer identification number of ISO/IEC
/// 7812-1), and how many digits they have.
struct IssuerRange {
    /// The fewest digits of any.
    static let fewestDigits = 13
    /// The most digits of any.
    static let mostDigits = 19

    /// The first six digits, from the lowest to the highest.
    private let beginnings: ClosedRange<Int>
    private let lengths: Set<Int>

    private init(_ beginnings: ClosedRange<Int>, _ lengths: Set<Int>) {
        self.beginnings = beginnings
        self.lengths = lengths
    }

    /// Whether the digits are a card number: in a range, as long as its numbers are, and with their check digit.
    static func hasCard(_ digits: ArraySlice<UInt8>) -> Bool {
        guard (fewestDigits...mostDigits).contains(digits.count), passesLuhn(digits) else { return false }
        // Visa gives out no numbers of thirteen digits any more; articles have that many, and Japan's begin with 4.
        if digits.count == 13, isArticle(digits) { return false }
        let beginning = digits.prefix(6).reduce(0) { $0 * 10 + Int($1) }
        return all.contains { $0.beginnings.contains(beginning) && $0.lengths.contains(digits.count) }
    }

    /// Ranges may overlap: what one scheme's are is not asked, only whether they are some scheme's.
    private static let all: [IssuerRange] =
        visa + mastercard + americanExpress + diners + discover + japan + china + maestro + others

    private static let sixteenUp: Set<Int> = [16, 17, 18, 19]

    private static let visa = [IssuerRange(400_000...499_999, [13, 16, 19])]
    private static let mastercard = [
        IssuerRange(510_000...559_999, [16]), IssuerRange(222_100...272_099, [16]),
    ]
    private static let americanExpress = [
        IssuerRange(340_000...349_999, [15]), IssuerRange(370_000...379_999, [15]),
    ]
    private static let diners = [
        IssuerRange(300_000...305_999, [14, 16, 17, 18, 19]), IssuerRange(309_500...309_599, [14, 16, 17, 18, 19]),
        IssuerRange(360_000...369_999, [14, 15, 16, 17, 18, 19]),
        IssuerRange(380_000...399_999, [14, 16, 17, 18, 19]),
    ]
    private static let discover = [
        IssuerRange(601_100...601_199, sixteenUp), IssuerRange(622_126...622_925, sixteenUp),
        IssuerRange(644_000...659_999, sixteenUp),
    ]
    /// JCB.
    private static let japan = [IssuerRange(352_800...358_999, sixteenUp)]
    /// UnionPay.
    private static let china = [
        IssuerRange(620_000...629_999, sixteenUp), IssuerRange(810_000...819_999, sixteenUp),
    ]
    /// All of what ISO/IEC 7812-1 left to banks and no scheme above has: Maestro's own tables differ.
    private static let maestro = [
        IssuerRange(500_000...509_999, sixteenUp), IssuerRange(560_000...589_999, sixteenUp),
        IssuerRange(600_000...699_999, sixteenUp),
    ]
    /// Mir; RuPay; Troy; Uzcard; Humo; BelKart. RuPay's other numbers are in ranges above.
    private static let others = [
        IssuerRange(220_000...220_499, sixteenUp), IssuerRange(353_000...353_999, [16]),
        IssuerRange(356_000...356_999, [16]), IssuerRange(820_000...829_999, [16]),
        IssuerRange(979_200...979_299, [16]), IssuerRange(860_000...860_099, [16]),
        IssuerRange(986_000...986_099, [16]), IssuerRange(911_200...911_299, [16]),
    ]

    /// The check of ISO/IEC 7812-1, annex B.
    private static func passesLuhn(_ digits: ArraySlice<UInt8>) -> Bool {
        var sum = 0
        var isDoubled = false
        for digit in digits.reversed() {
            let weighed = isDoubled ? Int(digit) * 2 : Int(digit)
            sum += weighed > 9 ? weighed - 9 : weighed
            isDoubled.toggle()
        }
        return sum % 10 == 0
    }

    /// Whether thirteen digits have the check digit of an article's number (EAN, JAN), by the GS1 General
    /// Specifications.
    private static func isArticle(_ digits: ArraySlice<UInt8>) -> Bool {
        var sum = 0
        for (index, digit) in digits.enumerated() { sum += Int(digit) * (index % 2 == 0 ? 1 : 3) }
        return sum % 10 == 0
    }
}
