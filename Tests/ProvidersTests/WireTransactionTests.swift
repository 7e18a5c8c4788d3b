import HTTPTransport
import Testing

@testable import PaymentCore
@testable import Providers

/// What parses, and what does not.
struct WireTransactionTests {
    private let book = OrderBook()

    private func parses(_ body: String) -> Bool {
        do {
            _ = try WireTransaction(AnswerObject(body: Array(body.utf8)))
            return true
        } catch {
            return false
        }
    }

    @Test
    func `each member that money depends on is required`() throws {
        let whole = WireBodies.transaction("authorized", key: try book.key(.authorize))
        #expect(parses(whole))
        for member in [
            #""status":"authorized","#, #""kind":"authorize","#, #""captures":[],"#, #""refunds":[],"#,
            #""amount":{"value":1200,"currency":"JPY"},"#, #""key":"\#(try book.key(.authorize).text)","#,
        ] {
            let without = whole.replacing(member, with: "")
            try #require(without != whole, "\(member)")
            #expect(!parses(without), "\(member)")
        }
    }

    @Test
    func `amounts are whole numbers of 64 bits`() throws {
        let whole = WireBodies.transaction("authorized", key: try book.key(.authorize))
        for value in ["0", "1", "9223372036854775807", "12.0", "1.2e3"] {
            #expect(parses(whole.replacing("1200", with: value)), "\(value)")
        }
        for value in ["-1", "12.5", "9223372036854775808", "\"1200\"", "null", "true", "1e30", "NaN", "{}"] {
            #expect(!parses(whole.replacing("1200", with: value)), "\(value)")
        }
        for currency in ["jpy", "JPYX", "", "円"] {
            #expect(!parses(whole.replacing("JPY", with: currency)), "\(currency)")
        }
    }

    @Test(arguments: [
        ("12", 12), ("-12", -12), ("-0", 0), ("0.0", 0), ("0e-7", 0), ("12.0", 12), ("12.50e1", 125), ("1E+2", 100),
        ("0.07e2", 7), ("1200e-2", 12), ("-1e2", -100), ("9007199254740993.0", 9_007_199_254_740_993),
        ("9223372036854775807", .max), ("-9.223372036854775808e18", .min), ("12.5", nil), ("1e-1", nil),
        ("9223372036854775808", nil), ("9223372036854775808.0", nil), ("1e19", nil), ("1e101", nil), ("1e-101", nil),
        ("1e9223372036854775808", nil), ("123e-1", nil),
    ])
    func `a whole number is read exactly or not at all`(text: String, number: Int64?) {
        #expect(WholeNumber.read(text) == number)
    }

    @Test
    func `disputes are read where a provider shows them, and are whole`() throws {
        let key = try book.key(.authorize)
        let capture = WireBodies.movement(try book.key(.capture), "succeeded")
        func whole(_ disputes: String?) -> String {
            WireBodies.transaction("captured", key: key, captures: [capture], disputes: disputes)
        }
        func shown(_ disputes: String?) throws -> Observation {
            let transaction = try WireTransaction(AnswerObject(body: Array(whole(disputes).utf8)))
            let reading = ObservationReading(amounts: .minorUnits, phases: .authorizeCapture, keyFormat: .hex40)
            return reading.observation(
                of: transaction, for: nil, began: Timestamp(milliseconds: 1), source: .inquiry)
        }
        for none in [nil, "null", "[]"] as [String?] { #expect(try shown(none).disputes == nil) }
        let amount = #""amount":{"value":700,"currency":"JPY"}"#
        let two = #"[{"id":"dp_1A",\#(amount),"status":"won","more":1},{"id":"a b",\#(amount),"status":"open"}]"#
        let read = try #require(try shown(two).disputes)
        #expect(read.map(\.id) == ["dp_1A", "a_b"] && read.map(\.state) == [.won, .open])
        #expect(read.map(\.amount.value) == [700, 700])
        let card = try shown(#"[{"id":"4111111111111111",\#(amount),"status":"open"}]"#).disputes
        #expect(card?.map(\.id) == ["withheld"])
        for odd in [
            "{}", #"[{"id":"x",\#(amount)}]"#, #"[{"id":"x",\#(amount),"status":"closed"}]"#,
            #"[{"id":"","status":"open",\#(amount)}]"#, #"[{"id":"x","status":"open"}]"#,
            #"[{"id":"x",\#(amount),"status":"won"},{"id":"x",\#(amount),"status":"open"}]"#,
            #"[{"id":"\#(String(repeating: "x", count: 129))",\#(amount),"status":"open"}]"#,
        ] {
            #expect(!parses(whole(odd)), "\(odd)")
        }
    }

    @Test
    func `optional members may be absent or null, and are of their type otherwise`() throws {
        let whole = WireBodies.transaction(
            "authorized", key: try book.key(.authorize), payment: "p", leg: "1", until: "2026-03-08T11:00:00Z")
        for (member, name) in [
            (#""reason":null"#, "reason"), (#""authorized_until":"2026-03-08T11:00:00Z""#, "authorized_until"),
            (#""metadata":{"payment":"p","leg":"1"}"#, "metadata"), (#""payment":"p""#, "payment"),
            (#""leg":"1""#, "leg"), (#""updated_at":"2026-03-01T11:00:01.5Z""#, "updated_at"),
        ] {
            try #require(whole.contains(member))
            #expect(parses(whole.replacing(member, with: #""\#(name)":null"#)), "\(name)")
            #expect(parses(whole.replacing(member, with: #""another":null"#)), "\(name)")
            #expect(!parses(whole.replacing(member, with: #""\#(name)":1"#)), "\(name)")
            #expect(!parses(whole.replacing(member, with: #""\#(name)":[]"#)), "\(name)")
        }
    }

    @Test
    func `an answer that says something twice says nothing`() throws {
        let whole = WireBodies.transaction(
            "captured", key: try book.key(.authorize),
            captures: [try WireBodies.movement(book.key(.capture), "succeeded")],
            payment: "p", leg: "1")
        func content(_ status: Int, _ body: String) -> ProviderAnswer.Content {
            ProviderAnswer(
                HTTPResponse(status: status, fields: .of("application/json"), body: Array(body.utf8), bytesWritten: 9)
            ).content
        }
        guard case .transaction = content(200, whole) else { throw WrongFixture() }
        for member in [
            #""status":"captured""#, #""status":"succeeded""#, #""value":1200"#, #""leg":"1""#, #""deep":[1,2,3]"#,
        ] {
            let twice = whole.replacing(member, with: member + "," + member)
            try #require(twice != whole)
            #expect(content(200, twice) == .unreadable("malformed_body"), "\(member)")
        }
        let escaped = whole.replacing(#""kind""#, with: #""st\u0061tus":"voided","kind""#)
        #expect(content(200, escaped) == .unreadable("malformed_body"))
        #expect(content(404, WireBodies.problem("/problems/not-found", status: 404)) != .unreadable("malformed_body"))
        #expect(
            content(404, #"{"type":"/problems/not-found","type":"/problems/not-found"}"#)
                == .unreadable("malformed_body"))
    }

    @Test
    func `what is not asked for may be nested, within bounds`() throws {
        let whole = WireBodies.transaction("authorized", key: try book.key(.authorize))
        for (depth, isRead) in [(30, true), (31, false)] {
            let deep = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            #expect(parses(whole.replacing("[1,2,3]", with: deep)) == isRead)
        }
    }

    @Test
    func `a tombstone may lack kind and amount, nothing else may`() throws {
        #expect(parses(WireBodies.tombstone(key: try book.key(.authorize))))
        for status in WireTransaction.Status.allCases where status != .tombstoned {
            let body = WireBodies.transaction(status.rawValue, key: try book.key(.authorize), kind: nil, value: nil)
            #expect(!parses(body), "\(status)")
        }
    }

    @Test
    func `two movements under one key do not parse`() throws {
        let movement = try WireBodies.movement(book.key(.capture), "succeeded")
        let key = try book.key(.authorize)
        #expect(parses(WireBodies.transaction("captured", key: key, captures: [movement])))
        #expect(!parses(WireBodies.transaction("captured", key: key, captures: [movement, movement])))
        #expect(!parses(WireBodies.transaction("captured", key: key, refunds: [movement, movement])))
    }

    @Test
    func `times that are none do not parse`() throws {
        let body = WireBodies.transaction("authorized", key: try book.key(.authorize), until: "2026-03-08T11:00:00Z")
        #expect(parses(body))
        #expect(!parses(body.replacing("2026-03-08T11:00:00Z", with: "next week")))
        #expect(!parses(body.replacing("2026-03-01T11:00:01.5Z", with: "2026-02-30T11:00:00Z")))
    }

    @Test
    func `deep nesting and odd bytes are refused without harm`() throws {
        #expect(!parses(String(repeating: "[", count: 100_000)))
        #expect(!parses(#"{"key":"# + String(repeating: "{\"a\":", count: 50_000)))
        #expect(!parses("\u{0}\u{FFFD}"))
        let whole = WireBodies.transaction("authorized", key: try book.key(.authorize), reason: "a")
        #expect(parses(whole))
        for odd in [#"a\u0000"#, #"\ud83d"#, "a\u{0}"] {
            #expect(!parses(whole.replacing(#""reason":"a""#, with: #""reason":"\#(odd)""#)), "\(odd)")
        }
        #expect(!parses("\u{FEFF}" + whole))
    }

    @Test
    func `a mutated success is never proof of no effect`() async throws {
        var generator = SeededGenerator(state: 7)
        let whole = Array(WireBodies.transaction("authorized", key: try book.key(.authorize)).utf8)
        for _ in 0..<3_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(bytes[index], at: index)
                }
            }
            let answer = ProviderAnswer(
                HTTPResponse(status: 201, fields: .of("application/json"), body: bytes, bytesWritten: 9))
            let classification = OutcomeClassification(
                reading: ObservationReading(amounts: .minorUnits, phases: .authorizeCapture, keyFormat: .hex40),
                payment: try book.payment, began: StandingClock.noon)
            let change = try PutTransaction(
                book.send(.authorize), amount: WireAmount(value: 1200, currency: "JPY"), store: nil)
            let report = classification.report(of: answer, to: change, now: StandingClock.noon)
            #expect([.accepted, .indeterminate].contains(report.outcome))
        }
    }
}

/// The same numbers for the same seed: SplitMix64 (Steele, Lea and Flood, 2014).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
