/// A site, as the configuration names it: a place that can lose its power or its network as a whole.
public struct SiteName: Sendable, Hashable, Comparable, Codable, CustomStringConvertible {
    /// The name: 1 to 64 of `a-z`, `0-9`, `-`, `_`, beginning with a letter or digit.
    public let name: String

    /// Checks the form of the name.
    public init(_ name: String) throws(MalformedName) {
        self.name = try checkedName(name, kind: "site")
    }

    private init(known: String) { name = known }

    /// The site of a configuration that names none.
    public static let main = SiteName(known: "main")

    /// Decodes and checks the bare name.
    public init(from decoder: any Decoder) throws {
        try self.init(decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the bare name.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    public static func < (left: SiteName, right: SiteName) -> Bool { left.name < right.name }

    public var description: String { name }
}
