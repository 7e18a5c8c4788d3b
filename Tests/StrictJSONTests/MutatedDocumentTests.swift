import Foundation
import SeededChance
import Testing

@testable import StrictJSON

/// Documents that nobody meant to write.
struct MutatedDocumentTests {
    private static let document = #"""
        {"amount":{"value":1500,"currency":"JPY"},
        "legs":[{"provider":"card","amount":{"value":1.2e3}},{"provider":"pts","amount":{"value":-0.5}}],
        "reference":"\u00e9\ud83d\ude00\n","capture":null}
        """#

    @Test func `random bytes and mutations never trap, and what is accepted others accept too`() throws {
        var chance = SeededChance(seed: 0x5EED)
        let seed = Array(Self.document.utf8)
        var mutator = Mutator(seed: 0x5EED, words: [seed])
        let marks = Array(#"{}[]",:\u0123456789eE+-.tfn "#.utf8)
        var accepted = 0
        for round in 0..<Mutator.rounds(30_000) {
            let bytes: [UInt8]
            if round % 3 == 0 {
                bytes = (0..<chance.below(40)).map { _ in marks[chance.below(marks.count)] }
            } else if round % 3 == 1 {
                bytes = (0..<chance.below(60)).map { _ in UInt8(chance.below(256)) }
            } else {
                bytes = mutator.changed(seed)
            }
            do {
                let value = try JSONReader.read(bytes, maximumDepth: 16)
                accepted += 1
                #expect(try JSONReader.read(value.canonicalBytes, maximumDepth: 16) == sorted(value))
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
