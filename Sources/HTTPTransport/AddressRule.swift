/// Which IP addresses a sender may connect to.
///
/// It judges the addresses that a name was resolved to, and not the name: whoever owns a name decides where it
/// leads, and may decide otherwise a moment later.
public struct AddressRule: Sendable, Hashable {
    private enum Scope: Hashable {
        case any
        case publicOnly(besides: [AddressRange])
    }

    private let scope: Scope

    /// Every address: for hosts that an operator names.
    public static let any = AddressRule(scope: .any)

    /// Addresses of the public internet alone: for hosts that somebody else names.
    ///
    /// Refused is what leads to this machine, to its network or to a cloud's metadata, what is reserved or meant
    /// for documentation, and multicast. An IPv6 address that stands for an IPv4 address is judged
    /// as that one. Public addresses of our own network are not known here: a firewall has to guard them.
    ///
    /// - Parameter besides: what is allowed nevertheless. A range of IPv6 allows no IPv4 address, in whatever form.
    public static func publicOnly(besides: [AddressRange]) -> AddressRule {
        AddressRule(scope: .publicOnly(besides: besides))
    }

    /// Whether a connection to the address may be made.
    ///
    /// - Parameter address: `nil` for one that is no IP address, which only ``any`` allows.
    func allows(_ address: IPAddress?) -> Bool {
        switch scope {
        case .any:
            return true
        case .publicOnly(let besides):
            guard let address else { return false }
            let target = address.inner ?? address
            return Self.isPublic(target) || besides.contains { $0.contains(target) }
        }
    }

    private static func isPublic(_ address: IPAddress) -> Bool {
        let isAssigned = address.bytes.count == 4 || global.contains(address)
        return isAssigned && !reserved.contains { $0.contains(address) }
    }

    /// All of IPv6 that is assigned to networks on the internet.
    ///
    /// Not in it are the unspecified address, loopback, IPv4-compatible, discard-only, local, link-local and
    /// site-local addresses, locally translated ones (`64:ff9b:1::/48`), SRv6 (`5f00::/16`) and multicast.
    private static let global = range("2000::/3")

    /// What IANA's registries of special-purpose addresses take out of the rest.
    ///
    /// 6to4 and Teredo carry an IPv4 address, which nobody needs today: they are refused as a whole.
    private static let reserved = [
        // This host, private networks (RFC 1918), the network of a carrier, loopback, link-local with metadata.
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
        // Protocols of IETF, documentation, relays of 6to4, a private network, benchmarks, documentation.
        "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24",
        // Documentation, multicast, and what is reserved, with broadcast as its last.
        "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
        // Protocols of IETF with Teredo, documentation, 6to4, documentation.
        "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].map(range)

    /// A range that is written in this file; one that could not be read must not count as absent.
    private static func range(_ text: String) -> AddressRange {
        guard let range = AddressRange(text) else { preconditionFailure("\(text) is no range of addresses") }
        return range
    }
}
