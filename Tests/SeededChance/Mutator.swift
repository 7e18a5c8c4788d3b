import Foundation

/// Changes bytes at random: bits, bytes, pieces, and what is at the same place of another one.
public struct Mutator: Sendable {
    /// What it draws from.
    public var chance: SeededChance
    private let words: [[UInt8]]
    /// What means something where it stands.
    private let tokens = [
        "\"", "\\", "\\u0022", ":", ",", "=", "{", "}", "[", "]", "0", "-1", "1e9", "true", "false", "null", "\u{0}",
        "\"success\":\"false\",", "\"id\":\"evt_2\",", "v1=", "t=", "v0=", " ", "\n", "é", "9223372036854775808",
    ].map { Array($0.utf8) }

    /// So many rounds, times what `RECONCILED_MUTATIONS` says: `make test-all` has fifty.
    public static func rounds(_ usual: Int) -> Int {
        usual * (ProcessInfo.processInfo.environment["RECONCILED_MUTATIONS"].flatMap(Int.init) ?? 1)
    }

    /// - Parameter words: of which pieces are taken.
    public init(seed: UInt64, words: [[UInt8]]) {
        chance = SeededChance(seed: seed)
        self.words = words
    }

    /// The bytes with one to three changes, which differ from what they were.
    public mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
        var changed = bytes
        repeat {
            for _ in 0...chance.below(3) { change(&changed) }
        } while changed == bytes
        return changed
    }

    private mutating func change(_ bytes: inout [UInt8]) {
        let place = chance.below(bytes.count + 1)
        let end = min(bytes.count, place + 1 + chance.below(24))
        switch chance.below(8) {
        case 0 where place < bytes.count: bytes[place] ^= 1 << UInt8(chance.below(8))
        case 1 where place < bytes.count: bytes[place] = UInt8(truncatingIfNeeded: chance.next())
        case 2: bytes.insert(contentsOf: chance.pick(tokens, else: []), at: place)
        case 3: bytes.removeSubrange(place..<end)
        case 4: bytes.insert(contentsOf: bytes[place..<end], at: chance.below(bytes.count + 1))
        case 5: bytes.removeLast(min(bytes.count, chance.below(40)))
        case 6:
            let other = words[chance.below(words.count)]
            let from = min(place, other.count)
            bytes.replaceSubrange(place..<end, with: other[from..<min(other.count, from + chance.below(40))])
        default: bytes.replaceSubrange(place..<end, with: chance.pick(tokens, else: []))
        }
    }
}
