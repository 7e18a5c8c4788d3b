import Testing

@testable import HTTPTransport

@Suite struct `A rule for addresses` {
    private static let publicOnly = AddressRule.publicOnly(besides: [])

    private func address(_ text: String) throws -> IPAddress {
        try #require(IPAddress(text), "\(text) is no address")
    }

    /// A range that is refused with its first and last address, and the neighbours that are not in a refused range.
    struct Refused: Sendable, CustomTestStringConvertible {
        let first: String
        let last: String
        var before: String?
        var after: String?

        init(_ first: String, _ last: String, before: String? = nil, after: String? = nil) {
            (self.first, self.last, self.before, self.after) = (first, last, before, after)
        }

        var testDescription: String { "\(first) to \(last)" }
    }

    static let refused = [
        Refused("0.0.0.0", "0.255.255.255", after: "1.0.0.0"),
        Refused("10.0.0.0", "10.255.255.255", before: "9.255.255.255", after: "11.0.0.0"),
        Refused("100.64.0.0", "100.127.255.255", before: "100.63.255.255", after: "100.128.0.0"),
        Refused("127.0.0.0", "127.255.255.255", before: "126.255.255.255", after: "128.0.0.0"),
        Refused("169.254.0.0", "169.254.255.255", before: "169.253.255.255", after: "169.255.0.0"),
        Refused("172.16.0.0", "172.31.255.255", before: "172.15.255.255", after: "172.32.0.0"),
        Refused("192.0.0.0", "192.0.0.255", before: "191.255.255.255", after: "192.0.1.0"),
        Refused("192.0.2.0", "192.0.2.255", before: "192.0.1.255", after: "192.0.3.0"),
        Refused("192.88.99.0", "192.88.99.255", before: "192.88.98.255", after: "192.88.100.0"),
        Refused("192.168.0.0", "192.168.255.255", before: "192.167.255.255", after: "192.169.0.0"),
        Refused("198.18.0.0", "198.19.255.255", before: "198.17.255.255", after: "198.20.0.0"),
        Refused("198.51.100.0", "198.51.100.255", before: "198.51.99.255", after: "198.51.101.0"),
        Refused("203.0.113.0", "203.0.113.255", before: "203.0.112.255", after: "203.0.114.0"),
        Refused("224.0.0.0", "239.255.255.255", before: "223.255.255.255"),
        Refused("240.0.0.0", "255.255.255.255"),
        Refused("::", "::fffe:ffff:ffff"),
        Refused("::1:0:0:0", "64:ff9a:ffff:ffff:ffff:ffff:ffff:ffff"),
        Refused("64:ff9b::1:0:0", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", after: "2000::"),
        Refused(
            "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff",
            before: "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff", after: "2001:200::"),
        Refused(
            "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
            before: "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff", after: "2001:db9::"),
        Refused(
            "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
            before: "2001:ffff:ffff:ffff:ffff:ffff:ffff:ffff", after: "2003::"),
        Refused(
            "3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff",
            before: "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff", after: "3fff:1000::"),
        Refused(
            "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", before: "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
    ]

    @Test(arguments: refused)
    func `a range that is not public is refused from its first to its last address`(range: Refused) throws {
        for text in [range.first, range.last] {
            let address = try address(text)
            #expect(!Self.publicOnly.allows(address), "\(text)")
            #expect(AddressRule.any.allows(address), "\(text)")
        }
        for text in [range.before, range.after].compactMap(\.self) {
            let address = try address(text)
            #expect(Self.publicOnly.allows(address), "\(text)")
        }
    }

    @Test(arguments: [
        "::", "::1", "::7f00:1", "::8.8.8.8", "::ffff:0:8.8.8.8", "64:ff9b:1::", "64:ff9b:1:ffff::808:808", "100::",
        "100::ffff:ffff:ffff:ffff", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:20::1", "2002:808:808::1",
        "5f00::1", "fc00::", "fd00:ec2::254", "fdff:ffff::", "fe80::1", "febf:ffff::1", "fec0::1", "feff::1",
        "ff02::1", "ff0e::1",
    ])
    func `an IPv6 address of special purpose is refused`(text: String) throws {
        let address = try address(text)
        #expect(!Self.publicOnly.allows(address))
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "93.184.215.14", "169.253.0.1", "2606:4700:4700::1111", "2001:4860:4860::8888",
        "2a00:1450:4001:81b::200e", "2400:cb00::1",
    ])
    func `an address of the public internet is allowed`(text: String) throws {
        let address = try address(text)
        #expect(Self.publicOnly.allows(address))
    }

    @Test(arguments: refused.filter { !$0.first.contains(":") }, ["::ffff:", "64:ff9b::"])
    func `an IPv6 address that carries an IPv4 address is judged as that one`(range: Refused, prefix: String) throws {
        for text in [range.first, range.last] {
            let address = try address(prefix + text)
            #expect(!Self.publicOnly.allows(address), "\(prefix)\(text)")
        }
        for text in [range.before, range.after].compactMap(\.self) {
            let address = try address(prefix + text)
            #expect(Self.publicOnly.allows(address), "\(prefix)\(text)")
        }
    }

    @Test func `what is no IP address only the rule for any allows`() {
        #expect(AddressRule.any.allows(nil))
        #expect(!Self.publicOnly.allows(nil))
    }

    @Test func `a named range is allowed besides, in every form of its addresses, and nothing next to it`() throws {
        let names = ["10.1.0.0/16", "fd00:1::/64", "192.168.7.9", "172.16.4.0/23"]
        let rule = AddressRule.publicOnly(besides: try names.map { try #require(AddressRange($0)) })
        let allowed = [
            "10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "64:ff9b::10.1.2.3", "fd00:1::",
            "fd00:1::ffff:ffff:ffff:ffff", "192.168.7.9", "172.16.4.0", "172.16.5.255", "8.8.8.8",
        ]
        for text in allowed {
            let address = try address(text)
            #expect(rule.allows(address), "\(text)")
        }
        let refused = [
            "10.0.255.255", "10.2.0.0", "::ffff:10.2.0.0", "::10.1.2.3", "2002:a01:203::1", "fd00:1:0:1::", "fd00::1",
            "192.168.7.8", "192.168.7.10", "172.16.3.255", "172.16.6.0", "127.0.0.1", "::1",
        ]
        for text in refused {
            let address = try address(text)
            #expect(!rule.allows(address), "\(text)")
        }
    }

    @Test func `a range of IPv6 allows no IPv4 address in another form`() throws {
        let rule = AddressRule.publicOnly(besides: [try #require(AddressRange("::/0"))])
        for text in ["::ffff:127.0.0.1", "64:ff9b::10.0.0.1", "169.254.169.254"] {
            let address = try address(text)
            #expect(!rule.allows(address), "\(text)")
        }
        let local = try address("fe80::1")
        #expect(rule.allows(local))
    }
}

@Suite struct `A range of addresses` {
    @Test(arguments: [
        "10.1.0.0/16", "0.0.0.0/0", "128.0.0.0/1", "10.1.2.3", "10.1.2.3/32", "10.1.2.2/31", "fd00:1::/64", "::/0",
        "::1", "::1/128", "FD00:1::/32", "2001:db8:8000::/33", "64:ff9b::/32", "64:ff9b:1::/48",
    ])
    func `an address with a prefix, or bare, is a range`(text: String) {
        #expect(AddressRange(text) != nil)
    }

    @Test(arguments: [
        "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08", "10.0.0.0/ 8",
        "10.0.0.0/8/8", "10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0.0/255.0.0.0", "10.0.0.0/٨", "10.0.0.0/1000",
        "10.1/16", "167772160/8", "0x0a.0.0.0/8", "010.0.0.0/8", "10.0.0.256", "10.0.0.0.0", "10.0.0.1\0/8",
        "10.0.0.1\0", "localhost", "fd00::/129", "fd00:::/16", "[fd00::]/16", "fe80::1%lo", "fe80::%lo/10", "fd00/16",
    ])
    func `anything else is none`(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(arguments: [
        "10.1.0.1/16", "10.1.128.0/16", "10.1.2.3/31", "128.0.0.0/0", "fd00:1::1/64", "fd00:1:0:0:8000::/64", "::1/127",
        "2001:db8:8000::/32",
    ])
    func `bits set after the prefix are refused`(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(arguments: ["::ffff:10.1.0.0/112", "::ffff:10.1.2.3", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b::a01:203"])
    func `IPv4 addresses in the form of IPv6 are refused`(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test func `two spellings of one range are the same`() {
        #expect(AddressRange("10.1.2.3") == AddressRange("10.1.2.3/32"))
        #expect(AddressRange("fd00:1:0::/64") == AddressRange("FD00:0001::/64"))
        #expect(AddressRange("10.0.0.0/8") != AddressRange("10.0.0.0/9"))
    }
}
