/// The name of the place in which a provider keeps idempotency keys.
///
/// Providers keep keys for each region (Adyen: docs.adyen.com/development-resources/api-idempotency). What was sent in
/// one region is not found in another, and the same key sent there charges again. So a leg stays in the key space in
/// which its first request was sent.
public struct KeySpace: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The most characters of a name: a host of 253 (RFC 1035), a colon and a port.
    public static let longestName = 259

    /// The name: an address such as `api.example.com:8443`, or a word.
    public let name: String

    /// A key space; `nil` if the name is empty, too long, or has other characters than a-z, 0-9 and . : - _ [ ].
    public init?(_ name: String) {
        let allowed = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
            case UInt8(ascii: "["), UInt8(ascii: "]"): true
            default: false
            }
        }
        guard allowed, !name.isEmpty, name.utf8.count <= KeySpace.longestName else { return nil }
        self.name = name
    }

    /// Reads a name as it was stored.
    public init(from decoder: any Decoder) throws {
        name = try decoder.singleValueContainer().decode(String.self)
    }

    /// Writes the name alone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(name)
    }

    public var description: String { name }
}

/// The key space in which a site sends to each provider.
public struct KeySpaces: Sendable, Hashable, Codable {
    /// The key spaces, by the names of the providers.
    public private(set) var byProvider: [String: KeySpace]

    /// Those of contracts, where they name one.
    public init(_ contracts: [ProviderName: ProviderContract] = [:]) {
        byProvider = [:]
        for (provider, contract) in contracts {
            if let space = contract.keySpace { byProvider[provider.name] = space }
        }
    }

    /// These, and for other providers what was known before.
    public func added(to known: KeySpaces) -> KeySpaces {
        var all = known
        all.byProvider.merge(byProvider) { _, new in new }
        return all
    }

    /// The providers to which others send in another key space, in order of their names, with both.
    public func differences(from others: KeySpaces) -> [(provider: String, here: KeySpace, there: KeySpace)] {
        byProvider.keys.sorted().compactMap { provider in
            guard let here = byProvider[provider], let there = others.byProvider[provider], here != there else {
                return nil
            }
            return (provider, here, there)
        }
    }
}
