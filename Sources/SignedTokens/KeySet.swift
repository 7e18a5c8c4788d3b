internal import HTTPEdge
internal import JWTKit
internal import PaymentCore
internal import StrictJSON

/// The public keys of who signs tokens, by their names (RFC 7517).
struct KeySet: Sendable {
    /// A key, for one way of signing.
    struct Key: Sendable {
        /// The way, by its name in RFC 7518.
        let algorithm: String
        private let verifier: any JWTAlgorithm

        fileprivate init(algorithm: String, verifier: any JWTAlgorithm) {
            self.algorithm = algorithm
            self.verifier = verifier
        }

        /// Whether the signature is the key's, of these bytes.
        func verifies(_ signature: [UInt8], of bytes: [UInt8]) -> Bool {
            do { return try verifier.verify(signature, signs: bytes) } catch { return false }
        }
    }

    /// This is no set of keys, or it holds none that can be used.
    struct Unusable: Error, CustomStringConvertible {
        let description: String
    }

    /// The shortest key of RSA, in bytes: 2,048 bits (RFC 7518, section 3.3).
    private static let shortestRSA = 256

    private let keys: [String: Key]
    /// How many keys can be used.
    var count: Int { keys.count }

    /// Reads a set. Keys for something else than signatures, of other kinds or too short are left out: a set may hold
    /// what somebody else needs.
    init(_ bytes: [UInt8]) async throws(Unusable) {
        guard bytes.count <= KeySetKeeper.largestSet else {
            throw Unusable(description: "it has more than \(KeySetKeeper.largestSet) bytes")
        }
        let document: JSONValue
        do {
            document = try JSONReader.read(bytes, maximumDepth: 8)
        } catch {
            throw Unusable(description: "it is no JSON: \(error.reason)")
        }
        guard case .array(let entries)? = document["keys"] else {
            throw Unusable(description: "it has no list 'keys'")
        }
        var keys: [String: Key] = [:]
        for entry in entries {
            guard let (name, key) = await KeySet.key(entry) else { continue }
            guard keys.updateValue(key, forKey: name) == nil else {
                throw Unusable(description: "two of its keys have the same 'kid'")
            }
        }
        guard !keys.isEmpty else { throw Unusable(description: "it holds no key that verifies signatures") }
        self.keys = keys
    }

    /// The key of a name. A token without one is meant for the only key.
    func key(_ name: String?) -> Key? {
        if let name { return keys[name] }
        return keys.count == 1 ? keys.first?.value : nil
    }

    private static func key(_ entry: JSONValue) async -> (String, Key)? {
        guard case .object(let members) = entry, entry["use"].map({ $0 == .string("sig") }) ?? true,
            case .string(let name)? = entry["kid"], !name.isEmpty, let algorithm = algorithm(entry)
        else { return nil }
        // The library takes the way of signing from the first token that comes, where the key does not say it.
        let named = JSONValue.object(
            members.filter { $0.name != "alg" } + [JSONMember("alg", .string(algorithm))])
        do {
            let collection = JWTKeyCollection()
            let key = try JWK(json: String(decoding: named.bytes, as: UTF8.self))
            try await collection.add(jwk: key, isDefault: true)
            return (name, Key(algorithm: algorithm, verifier: try await collection.getKey()))
        } catch {
            return nil
        }
    }

    /// The way of signing of a key: what it says, or the only one that is usual for its kind. A key that is a secret
    /// (`oct`) or holds one (`d`) is none for this.
    private static func algorithm(_ entry: JSONValue) -> String? {
        guard entry["d"] == nil, case .string(let kind)? = entry["kty"] else { return nil }
        let allowed: [String]
        switch (kind, entry["crv"]) {
        case ("RSA", _):
            guard case .string(let modulus)? = entry["n"], let bytes = Base64URL.decode(modulus),
                bytes.drop(while: { $0 == 0 }).count >= shortestRSA
            else { return nil }
            allowed = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
        case ("EC", .string("P-256")): allowed = ["ES256"]
        case ("EC", .string("P-384")): allowed = ["ES384"]
        case ("EC", .string("P-521")): allowed = ["ES512"]
        case ("OKP", .string("Ed25519")): allowed = ["EdDSA"]
        default: return nil
        }
        switch entry["alg"] {
        case nil: return allowed.first
        case .string(let algorithm): return allowed.contains(algorithm) ? algorithm : nil
        default: return nil
        }
    }
}

extension JSONValue {
    /// A member of an object.
    subscript(_ name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value
    }
}
