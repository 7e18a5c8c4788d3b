import Crypto
import Foundation
import HTTPEdge
import PaymentCore

/// An issuer of tokens with keys of its own, made without the library that verifies them.
struct Issuer: Sendable {
    static let now = Timestamp(milliseconds: 1_800_000_000_000)
    static let name = "https://issuer.example/"

    private let p256 = P256.Signing.PrivateKey()
    private let p384 = P384.Signing.PrivateKey()
    private let ed25519 = Curve25519.Signing.PrivateKey()

    /// The set of its keys, with others that are for something else.
    var keySet: [UInt8] { Array("{\"keys\":[\(keys.joined(separator: ","))]}".utf8) }

    var keys: [String] {
        let point = p256.publicKey.rawRepresentation
        let longer = p384.publicKey.rawRepresentation
        func encoded(_ bytes: some Sequence<UInt8>) -> String { Base64URL.encode(Array(bytes)) }
        return [
            """
            {"kty":"EC","crv":"P-256","kid":"es256","use":"sig","alg":"ES256",\
            "x":"\(encoded(point.prefix(32)))","y":"\(encoded(point.suffix(32)))"}
            """,
            """
            {"kty":"EC","crv":"P-384","kid":"es384","x":"\(encoded(longer.prefix(48)))",\
            "y":"\(encoded(longer.suffix(48)))"}
            """,
            #"{"kty":"OKP","crv":"Ed25519","kid":"eddsa","x":"\#(encoded(ed25519.publicKey.rawRepresentation))"}"#,
            #"{"kty":"oct","kid":"secret","alg":"HS256","k":"c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"}"#,
            #"{"kty":"EC","crv":"P-256","kid":"other-use","use":"enc","x":"AA","y":"AA"}"#,
            #"{"kty":"RSA","kid":"short","n":"\#(encoded(Array(repeating: 0xC1, count: 128)))","e":"AQAB"}"#,
            #"{"kty":"future","kid":"future"}"#,
        ]
    }

    /// What a token says that is as it should be.
    static var claims: [String: any Sendable] {
        let seconds = now.milliseconds / 1_000
        return ["iss": name, "aud": "payments", "sub": "client-1", "exp": seconds + 300, "iat": seconds]
    }

    /// A token with these claims.
    func token(
        _ claims: [String: any Sendable] = Issuer.claims, header: [String: any Sendable] = [:], by key: String = "es256"
    ) throws -> String {
        var fields: [String: any Sendable] = ["alg": Issuer.algorithms[key] ?? "ES256", "kid": key, "typ": "JWT"]
        fields.merge(header) { $1 }
        let body = try JSONSerialization.data(withJSONObject: claims)
        return try token(
            header: String(decoding: try JSONSerialization.data(withJSONObject: fields), as: UTF8.self),
            claims: String(decoding: body, as: UTF8.self), by: key)
    }

    static let algorithms = ["es256": "ES256", "es384": "ES384", "eddsa": "EdDSA"]

    /// A token of these texts.
    func token(header: String, claims: String, by key: String = "es256") throws -> String {
        let signed = [header, claims].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
        let bytes = Data(signed.utf8)
        let signature =
            switch key {
            case "es384": try p384.signature(for: bytes).rawRepresentation
            case "eddsa": try ed25519.signature(for: bytes)
            default: try p256.signature(for: bytes).rawRepresentation
            }
        return "\(signed).\(Base64URL.encode(Array(signature)))"
    }
}
