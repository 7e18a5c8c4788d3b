/// A 64-bit hash over everything that happened, in order.
struct TraceHash {
    private(set) var value: UInt64 = 0x6A09_E667_F3BC_C908

    mutating func add(_ word: UInt64) {
        value = (value ^ word) &* 0x9E37_79B9_7F4A_7C15
        value ^= value >> 29
    }

    mutating func add(_ number: Int) { add(UInt64(bitPattern: Int64(number))) }
    mutating func add(_ number: Int64) { add(UInt64(bitPattern: number)) }

    mutating func add(bytes: [UInt8]) {
        var word: UInt64 = UInt64(bytes.count)
        for byte in bytes.prefix(16) { word = word &* 0x0100_0000_01B3 ^ UInt64(byte) }
        add(word)
    }

    mutating func add(text: String) {
        var word: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in text.utf8 { word = (word ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        add(word)
    }
}
