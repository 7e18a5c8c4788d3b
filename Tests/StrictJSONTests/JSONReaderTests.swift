import Foundation
import Testing

@testable import StrictJSON

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

    @Test func `a failure says where the bytes stop to be UTF-8`() throws {
        let cases: [(inner: [UInt8], place: Int)] = [
            ([0xFF], 4), ([0x61, 0xC3, 0xA9, 0xED, 0xA0, 0x80], 7), ([0xEF, 0xBB], 4),
        ]
        for (inner, place) in cases {
            let bytes = Array("[1,".utf8) + [0x22] + inner + Array("\"]".utf8)
            let failure = #expect(throws: JSONFailure.self) { try JSONReader.read(bytes, maximumDepth: 16) }
            #expect(failure?.offset == place, "\(inner)")
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

    @Test(arguments: [" ", "\n", "\r\n", "\t", " \n\t "]) func `blanks may be between any two tokens`(blank: String)
        throws
    {
        let tokens = [
            "{", #""a""#, ":", "[", "1", ",", "{", "}", ",", "[", "]", ",", "[", "true", "]", "]", ",", #""b""#, ":",
            "{", #""c""#, ":", "null", "}", "}",
        ]
        let plain = try read(tokens.joined())
        #expect(try read(blank + tokens.joined(separator: blank) + blank) == plain)
        for index in 0...tokens.count {
            let text = tokens.prefix(index).joined() + blank + tokens.dropFirst(index).joined()
            #expect(try read(text) == plain, "before token \(index)")
        }
    }

    @Test func `what is written is read again as the same, by others too`() throws {
        let text = String(String.UnicodeScalarView((1..<0x300).compactMap(Unicode.Scalar.init)))
        let list = JSONValue.array([.string(text), .integer(-7), .bool(false), .null])
        let value = JSONValue.object([JSONMember(text, list)])
        #expect(try JSONReader.read(value.bytes, maximumDepth: 16) == value)
        let foreign = try JSONSerialization.jsonObject(with: Data(value.bytes)) as? [String: [Any]]
        #expect(foreign?[text]?.first as? String == text)
    }

    /// Why a text is refused, as a reader of the failure sees it.
    private struct Refusal: Equatable {
        let reason: String
        let offset: Int
        let path: [JSONStep]
    }

    private func refusal(_ text: String) -> Refusal? {
        do {
            _ = try read(text)
            return nil
        } catch {
            return Refusal(reason: error.reason, offset: error.offset, path: error.path)
        }
    }

    @Test(arguments: [
        ("", "the document ends too early", 0), ("  ", "the document ends too early", 2),
        ("{}{}", "more after the end of the document", 2), ("nul", "unexpected character", 3),
        ("truE", "unexpected character", 3), ("'a'", "unexpected character", 0),
        ("{1:2}", "a member's name is expected", 1), ("-", "a digit is expected", 1),
        ("1.x", "a digit is expected", 2), ("1e+", "a digit is expected", 3),
        (#""abc"#, "a string does not end", 4), (#""ab\"#, "a string does not end", 4),
        ("\"ab\u{1}c\"", "a control character in a string", 4),
        ("\"a\\n\u{1}c\"", "a control character in a string", 5), (#""é\x""#, "an unknown escape in a string", 5),
        (#""\u12g4""#, "four hexadecimal digits are expected", 5), (#""\ud83dx""#, "half of a surrogate pair", 7),
        (#""\ude00""#, "half of a surrogate pair", 7), (#""\u0000""#, "U+0000 in a string", 7),
        (#"{"a":1"#, "a comma or the end of the object is expected", 6),
        ("[1", "a comma or the end of the array is expected", 2),
    ])
    func `a failure says what is wrong and at which byte`(text: String, reason: String, offset: Int) {
        #expect(refusal(text) == Refusal(reason: reason, offset: offset, path: []))
        // The same within a document: at the same byte of it, and in its place. There the document does not end.
        let before = #"{"a":[true,"#
        let isAfterEnd = reason == "more after the end of the document"
        let inner = Refusal(
            reason: isAfterEnd ? "a comma or the end of the array is expected" : reason,
            offset: before.utf8.count + offset, path: isAfterEnd ? [.member("a")] : [.member("a"), .item(1)])
        #expect(refusal(before + text) == inner)
    }

    @Test func `a failure says in which member it is`() {
        let within: [JSONStep] = [.member("legs"), .item(1), .member("b")]
        #expect(
            refusal(#"{"legs":[{},{"a":1,"b":x}]}"#)
                == Refusal(reason: "unexpected character", offset: 23, path: within))
        #expect(
            refusal(#"{"legs":[{},{"b":1,"\u0062":2}]}"#)
                == Refusal(reason: "the same member twice", offset: 27, path: within))
        #expect(
            refusal(#"{"legs":[{},{"b" 1}]}"#) == Refusal(reason: "a colon is expected", offset: 17, path: within))
        #expect(
            refusal(#"{"legs":[{},{"b":1 2}]}"#)
                == Refusal(
                    reason: "a comma or the end of the object is expected", offset: 19, path: within.dropLast()))
        let deep = Array(repeating: JSONStep.item(0), count: 16)
        #expect(
            refusal(String(repeating: "[", count: 20)) == Refusal(reason: "nested too deeply", offset: 16, path: deep))
    }

    @Test func `a failure as text shows no name of the document`() {
        #expect(throws: JSONFailure.self) { try read(#"{"4111111111111111":x}"#) }
        do {
            _ = try read(#"{"4111111111111111":x}"#)
        } catch {
            #expect("\(error)" == "unexpected character, at byte 20")
        }
    }

    @Test(arguments: [1, 2, 15, 16, 17, 18, 40, 20_000])
    func `a member twice is found among few and among many`(count: Int) throws {
        let members = (0..<count).map { "\"m\($0)\":\($0)" }.joined(separator: ",")
        guard case .object(let found) = try read("{\(members)}") else {
            Issue.record("no object")
            return
        }
        #expect(found.count == count && found.last == JSONMember("m\(count - 1)", .integer(count - 1)))
        for twice in Set([0, count / 2, count - 1]) {
            #expect(refusal("{\(members),\"m\(twice)\":0}")?.path == [.member("m\(twice)")])
            #expect(refusal("{\(members),\"m\(twice)\":0}")?.reason == "the same member twice")
        }
    }
}
