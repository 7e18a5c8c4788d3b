/// A generator with a seed (SplitMix64), so that whatever a test draws can be drawn again.
public struct SeededChance: Sendable {
    private var state: UInt64

    /// A generator; the same for the same seed.
    public init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 0x1234_5678_9ABC_DEF1 }

    /// The next 64 bits.
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to, not including, `bound`.
    public mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    /// True in so many of a hundred cases.
    public mutating func happens(percent: Int) -> Bool { below(100) < percent }

    /// One of several; the other one where there is none.
    public mutating func pick<Element>(_ choices: [Element], else fallback: Element) -> Element {
        choices.isEmpty ? fallback : choices[below(choices.count)]
    }
}
