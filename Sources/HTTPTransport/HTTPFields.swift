/// The header fields of a request or a response, in the order in which they were added.
///
/// Names are compared without regard to ASCII case; a name may occur more than once. Construction never
/// fails, so that a field can be built from anything; ``firstInvalid`` names a field that must not reach the
/// wire, and a sender refuses a request that has one with ``TransportFailure/Code/invalidRequest``.
public struct HTTPFields: Sendable, Equatable {
    /// One field: its name as it was given, and its value.
    public struct Field: Sendable, Equatable {
        /// The name, with the case in which it was given.
        public var name: String
        /// The value, without the white space around it.
        public var value: String

        /// Makes a field without judging it.
        public init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Every field, in order.
    public private(set) var all: [Field]

    /// Fields from pairs of name and value, in the given order.
    public init(_ pairs: [(String, String)] = []) {
        all = pairs.map { Field(name: $0.0, value: $0.1) }
    }

    /// The value of the first field of this name, in any case; `nil` if there is none.
    ///
    /// Setting replaces every field of the name by one at the end, or removes them all.
    public subscript(name: String) -> String? {
        get { all.first { Self.sameName($0.name, name) }?.value }
        set {
            all.removeAll { Self.sameName($0.name, name) }
            if let newValue { all.append(Field(name: name, value: newValue)) }
        }
    }

    /// Adds a field at the end, beside any of the same name.
    public mutating func append(_ name: String, _ value: String) {
        all.append(Field(name: name, value: value))
    }

    /// Every value of this name, in order.
    public func values(of name: String) -> [String] {
        all.filter { Self.sameName($0.name, name) }.map(\.value)
    }

    /// The name of the first field that must not be written to the wire: its name is not a token, or its
    /// value holds a control character.
    ///
    /// A carriage return or line feed would let a value add fields, or a whole request, of its own (RFC 9110,
    /// sections 5.1 and 5.5).
    public var firstInvalid: String? {
        all.first { !Self.isToken($0.name) || !Self.isValue($0.value) }?.name
    }

    /// Appends to the last value: how an obsolete folded line continues (RFC 9112, section 5.2).
    mutating func extendLast(with text: String) {
        guard let last = all.indices.last else { return }
        all[last].value += " " + text
    }

    static func sameName(_ one: String, _ other: String) -> Bool {
        one.utf8.elementsEqual(other.utf8) { lowered($0) == lowered($1) }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        (0x41...0x5A).contains(byte) ? byte | 0x20 : byte
    }

    private static func isToken(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
                default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
                }
            }
    }

    private static func isValue(_ value: String) -> Bool {
        value.utf8.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }
}
