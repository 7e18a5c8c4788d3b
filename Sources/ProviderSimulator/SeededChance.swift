/// Chance that depends on what is decided and on nothing else: the same seed gives every request the same
/// fate however the requests of different keys interleave, so a run can be had again.
struct SeededChance: Sendable {
    let seed: UInt64

    /// In 0..<1, uniformly, from the parts of the question.
    func draw(_ purpose: String, _ provider: String, _ operation: Operation, _ key: String, attempt: Int64)
        -> Double
    {
        Double(draw([purpose, provider, operation.rawValue, key, String(attempt)]) >> 11) / 9_007_199_254_740_992
    }

    /// 64 bits from the parts of the question.
    func draw(_ parts: [String]) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325 ^ seed
        for part in parts {
            for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
            // Ends the part, so that ("a", "bc") and ("ab", "c") differ.
            hash = (hash ^ 0xff) &* 0x100_0000_01b3
        }
        return Self.mixed(hash &+ seed)
    }

    /// The finalizer of SplitMix64: every bit of the input reaches every bit of the output.
    static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
