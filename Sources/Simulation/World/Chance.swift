/// Draws that depend on the seed and on what is drawn for, never on how many draws came before.
///
/// So one event can be taken out of a run, to shrink it, and everything else stays as it was.
public struct Chance: Sendable {
    private let seed: UInt64

    /// The chance of one run.
    public init(seed: UInt64) { self.seed = Chance.mixed(seed ^ 0x9E37_79B9_7F4A_7C15) }

    /// 64 bits that only this purpose has: its words are hashed together with the seed.
    public func bits(_ purpose: UInt64...) -> UInt64 {
        var state = seed
        for word in purpose { state = Chance.mixed(state ^ Chance.mixed(word)) }
        return state
    }

    /// 0 up to, and without, `bound`, for a purpose; the index tells apart draws for the same.
    func draw(_ purpose: String, _ index: Int = 0, below bound: Int) -> Int {
        Chance.below(bound, bits(Chance.word(purpose), UInt64(index)))
    }

    /// 0 up to, and without, `bound`.
    public static func below(_ bound: Int, _ bits: UInt64) -> Int {
        guard bound > 0 else { return 0 }
        return Int(bits.multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// Whether something with this rate, in parts per million, happens.
    public static func happens(perMillion rate: Int, _ bits: UInt64) -> Bool { below(1_000_000, bits) < rate }

    /// A word for a text, the same in every run: FNV-1a, 64 bits.
    public static func word(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }

    /// The finalizer of SplitMix64: every bit of the input changes half of the output.
    static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
