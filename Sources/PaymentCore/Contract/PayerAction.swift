/// What a payer has to do before a provider decides: an authentication at the bank, a confirmation in a wallet.
///
/// The caller shows it to the payer. Nothing is held or taken meanwhile, and a cancel still ends it.
public struct PayerAction: Sendable, Hashable, Codable {
    /// Where the payer goes. It may hold a secret of the payment: it is shown to the caller alone, and never logged.
    /// `nil` if the provider names no address that a browser can be sent to: only a cancel or the deadline ends it.
    public let url: WebAddress?

    /// An action.
    public init(url: WebAddress?) { self.url = url }
}

/// An address on the web, as a payer's browser is sent to.
public struct WebAddress: Sendable, Hashable, Codable, CustomStringConvertible {
    /// The most bytes of one.
    public static let longest = 2_048

    /// The address.
    public let text: String

    /// An `https` address of visible ASCII with a host and without user information; `nil` for anything else. Plain
    /// `http` is taken for the machine itself, so that a simulator can be used.
    public init?(_ text: String) {
        guard text.utf8.count <= WebAddress.longest,
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") })
        else { return nil }
        let scheme = ["https://", "http://"].first { text.lowercased().hasPrefix($0) }
        guard let scheme else { return nil }
        let authority = text.dropFirst(scheme.utf8.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.prefix { $0 != ":" }
        guard !host.isEmpty, !authority.contains("@") else { return nil }
        guard scheme == "https://" || ["localhost", "127.0.0.1"].contains(host.lowercased()) else { return nil }
        self.text = text
    }

    /// Reads an address as it was stored.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let address = WebAddress(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no address on the web")
        }
        self = address
    }

    /// Writes the address alone.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }

    public var description: String { text }
}
