import PaymentCore
import Testing

@testable import HTTPEdge

/// Who stands behind a token: the same rule for callers and for operators.
struct TokenDirectoryTests {
    /// The digest of `a`, and of a token with a blank in it.
    private static let digests = [
        "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
        "c8687a08aa5d6ed2044328fa6a697ab8e96dc34291e8c2034ae8c38e6fcc6d65",
    ]

    private func digest(_ index: Int) throws -> Digest {
        try #require(Digest(hex: Self.digests[index]))
    }

    @Test func `one header with the scheme and a token says who it is`() throws {
        let directory = try TokenDirectory([(owner: "hana", tokenDigest: try digest(0))])
        for value in ["Bearer a", "bearer a", "BEARER a"] {
            #expect(directory.owner(authorization: [value]) == "hana", "\(value)")
        }
    }

    @Test(arguments: [
        [], ["Bearer a", "Bearer a"], ["a"], ["Bearer"], ["Bearer "], ["Bearer  a"], ["Bearer a "], ["Basic a"],
        ["Bearer b"], ["Bearer \(String(repeating: "a", count: 513))"],
    ])
    func `anything else says nothing`(_ values: [String]) throws {
        let directory = try TokenDirectory([(owner: "hana", tokenDigest: try digest(0))])
        #expect(directory.owner(authorization: values) == nil)
    }

    @Test func `a token with other than visible characters is none, whoever has its digest`() throws {
        let directory = try TokenDirectory([(owner: "hana", tokenDigest: try digest(1))])
        #expect(directory.owner(bearing: "a b") == "hana")
        #expect(directory.owner(authorization: ["Bearer a b"]) == nil)
    }

    @Test func `a token belongs to one owner, who may have two`() throws {
        let (first, second) = (try digest(0), try digest(1))
        #expect(throws: TokenDirectory<String>.SharedToken(owners: ["hana", "ken"])) {
            _ = try TokenDirectory([(owner: "hana", tokenDigest: first), (owner: "ken", tokenDigest: first)])
        }
        let directory = try TokenDirectory([(owner: "hana", tokenDigest: first), (owner: "hana", tokenDigest: second)])
        #expect(directory.owner(bearing: "a") == "hana" && directory.owner(bearing: "a b") == "hana")
    }
}
