/// A currency of ISO 4217, by its alphabetic code.
public struct Currency: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The three-letter code, such as `JPY`.
    public let code: String

    /// Looks a code up. Only codes of active currencies of ISO 4217 exist; case matters.
    public init?(code: String) {
        guard Currency.minorUnitDigits[code] != nil else { return nil }
        self.code = code
    }

    /// Decodes and looks the code up.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let code = try container.decode(String.self)
        guard let known = Currency(code: code) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "unknown currency \(code)")
        }
        self = known
    }

    /// Encodes the bare code.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(code)
    }

    /// How many decimal digits the minor unit has: 2 for EUR (cent), 0 for JPY, 3 for KWD.
    public var minorUnitDigits: Int { Currency.minorUnitDigits[code] ?? 2 }

    public var description: String { code }

    private static let minorUnitDigits: [String: Int] = {
        var digits: [String: Int] = [:]
        let two = """
            AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF \
            CHE CHF CHW CNY COP COU CRC CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ \
            GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD \
            MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON \
            RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS \
            UAH USD USN UYU UZS VED VES WST XCD XCG YER ZAR ZMW ZWG
            """
        let groups = [
            (two, 2),
            ("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF", 0),
            ("BHD IQD JOD KWD LYD OMR TND", 3),
            ("CLF UYW", 4),
        ]
        for (codes, count) in groups {
            for code in codes.split(separator: " ") { digits[String(code)] = count }
        }
        return digits
    }()
}
