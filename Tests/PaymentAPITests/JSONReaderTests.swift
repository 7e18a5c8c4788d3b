import Foundation
import Testing

@testable import PaymentAPI

struct JSONReaderTests {
    private func read(_ text: String) throws(JSONFailure) -> JSONValue {
        try JSONReader.read(Array(text.utf8), maximumDepth: 16)
    }

    @Test func `numbers keep their own characters`() throws {
        for text in ["0", "-0", "1.0", "1e3", "9223372036854775808", "-12.5E-07", "1000000000000000000000"] {
            #expect(try read(text) == .number(text))
        }
        for text in ["01", "+1", ".5", "1.", "1e", "0x1", "1_000", "NaN", "--1", "-", "1 2"] {
            #expect(throws: JSONFailure.self) { try read(text) }
        }
    }

    @Test func `strings are decoded, and halves of pairs and control characters refused`() throws {
        #expect(try read(#""a\n\"\\\/\u00e9\ud83d\ude00é""#) == .string("a\n\"\\/é😀é"))
        for text in [
            #""\ud83d""#, #""\ud83dx""#, #""\ud83d\u0041""#, #""\ude00""#, #""\u00g0""#, #""\u12"#,
            #""\x""#, "\"a\u{01}\"",
            "\"a\nb\"", "\"", #""\"#, #""\u0000""#, #""\u+123""#,
        ] {
            #expect(throws: JSONFailure.self, "\(text)") { try read(text) }
        }
    }

    @Test func `a member twice is refused, however its name is written`() throws {
        for text in [#"{"a":1,"a":2}"#, #"{"a":1,"\u0061":2}"#, "{\"\u{E9}\":1,\"e\u{301}\":2}"] {
            #expect(throws: JSONFailure.self) { try read(text) }
        }
        #expect(try read(#"{"a":{"a":1},"b":[{"a":1}]}"#) != .null)
    }

    @Test func `the depth is bounded`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: #"[{"a":"#, count: depth / 2) + "1" + String(repeating: "}]", count: depth / 2)
        }
        _ = try read(nested(16))
        #expect(throws: JSONFailure.self) { try read(nested(18)) }
        #expect(throws: JSONFailure.self) { try read(String(repeating: "[", count: 60_000)) }
    }

    @Test func `bytes that are no UTF-8 are refused`() throws {
        for inner: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xEF, 0xBB]] {
            let bytes = [0x22] + inner + [0x22]
            #expect(throws: JSONFailure.self) { try JSONReader.read(bytes, maximumDepth: 16) }
        }
    }

    @Test func `the canonical form does not depend on order, blanks or escapes`() throws {
        let one = try read(#"{ "b" : [1, {"z":null,"a":true}], "a":"\u00e9/" }"#)
        let two = try read("{\"a\":\"é\\/\",\"b\":[1,{\"a\":true,\"z\":null}]}")
        #expect(one.canonicalBytes == two.canonicalBytes)
        let text = String(decoding: one.canonicalBytes, as: UTF8.self)
        #expect(text == #"{"a":"é/","b":[1,{"a":true,"z":null}]}"#)
        #expect(try read(text).canonicalBytes == one.canonicalBytes)
    }

    @Test func `what is written is read again as the same, by others too`() throws {
        let text = String(String.UnicodeScalarView((1..<0x300).compactMap(Unicode.Scalar.init)))
        let list = JSONValue.array([.string(text), .integer(-7), .bool(false), .null])
        let value = JSONValue.object([JSONMember(text, list)])
        #expect(try JSONReader.read(value.bytes, maximumDepth: 16) == value)
        let foreign = try JSONSerialization.jsonObject(with: Data(value.bytes)) as? [String: [Any]]
        #expect(foreign?[text]?.first as? String == text)
    }

    @Test func `random bytes and mutations never trap, and what is accepted others accept too`() throws {
        var chance = Chance(state: 0x5EED)
        let seed = Array(RunningAPI.twoLegs.utf8)
        let marks = Array(#"{}[]",:\u0123456789eE+-.tfn "#.utf8)
        var accepted = 0
        for round in 0..<30_000 {
            var bytes: [UInt8]
            if round % 3 == 0 {
                bytes = (0..<chance.below(40)).map { _ in marks[chance.below(marks.count)] }
            } else if round % 3 == 1 {
                bytes = (0..<chance.below(60)).map { _ in UInt8(chance.below(256)) }
            } else {
                bytes = seed
                for _ in 0...chance.below(3) {
                    let place = chance.below(bytes.count)
                    switch chance.below(4) {
                    case 0: bytes.remove(at: place)
                    case 1: bytes.insert(marks[chance.below(marks.count)], at: place)
                    case 2: bytes[place] = UInt8(chance.below(256))
                    default: bytes.removeSubrange(place...)
                    }
                    if bytes.isEmpty { bytes = [0x7B] }
                }
            }
            do {
                let value = try JSONReader.read(bytes, maximumDepth: 16)
                accepted += 1
                #expect(try JSONReader.read(value.canonicalBytes, maximumDepth: 16) == sorted(value))
                _ = CardNumberScan.find(in: value)
                do { _ = try CreateBody(value) } catch { #expect(error.status >= 400) }
                if !isHugeNumber(value) {
                    _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
                }
            } catch is JSONFailure {
                continue
            }
        }
        #expect(accepted > 500)
    }

    private func sorted(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let items): .array(items.map(sorted))
        case .object(let members):
            .object(
                members.map { JSONMember($0.name, sorted($0.value)) }
                    .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
        default: value
        }
    }

    /// Foundation refuses numbers that its types cannot hold; the grammar does not.
    private func isHugeNumber(_ value: JSONValue) -> Bool {
        switch value {
        case .number(let text): text.utf8.count > 15 || text.contains("e") || text.contains("E")
        case .array(let items): items.contains(where: isHugeNumber)
        case .object(let members): members.contains { isHugeNumber($0.value) }
        default: false
        }
    }
}

/// A small generator with a seed (xorshift), so that a failing round can be repeated.
struct Chance {
    var state: UInt64

    mutating func below(_ bound: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(max(bound, 1)))
    }
}
