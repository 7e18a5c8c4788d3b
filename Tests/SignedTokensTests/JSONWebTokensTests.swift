import LogCapture
import Logging
import PaymentAPI
import PaymentCore
import Testing
import VirtualTime

@testable import SignedTokens

/// What is believed of a signed token, and what is not.
@Suite struct JSONWebTokensTests {
    private let issuer = Issuer()

    private func judge(_ token: String, _ change: (inout TokenRules) -> Void = { _ in }) async -> SignedTokenJudgement {
        var rules = TokenRules(issuer: Issuer.name, audience: "payments")
        change(&rules)
        let clock = VirtualClock(at: Issuer.now)
        let logger = Logger(label: "test") { _ in LogLines().handler }
        let keys = KeySetKeeper(trustedFor: .hours(24), clock: clock, logger: logger) { [issuer] in issuer.keySet }
        return await withTaskGroup(of: Void.self) { group in
            group.addTask { await keys.run() }
            defer { group.cancelAll() }
            return await JSONWebTokens(rules, keys: keys, clock: clock).judge(token)
        }
    }

    private func claims(_ changes: [String: (any Sendable)?]) -> [String: any Sendable] {
        var claims = Issuer.claims
        for (name, value) in changes { claims[name] = value }
        return claims
    }

    private var seconds: Int64 { Issuer.now.milliseconds / 1_000 }

    @Test(arguments: ["es256", "es384", "eddsa"])
    func `a token of each kind of key is believed`(_ key: String) async throws {
        #expect(await judge(try issuer.token(by: key)) == .subject("client-1", scopes: nil))
    }

    @Test func `what a token permits is one text of words, or a list, with the prefix that is ours`() async throws {
        func scopes(_ value: any Sendable, prefix: String = "") async throws -> Set<CallerScope>? {
            let token = try issuer.token(claims(["scope": value]))
            guard case .subject(_, let scopes) = await judge(token, { $0.scopePrefix = prefix }) else { return nil }
            return scopes
        }
        #expect(try await scopes("read create openid") == [.read, .create])
        #expect(try await scopes(["capture", "email"]) == [.capture])
        #expect(try await scopes("pay:read create", prefix: "pay:") == [.read])
        #expect(try await scopes("") == [])
        #expect(try await scopes(7) == [])
        let named = try issuer.token(claims(["scp": ["refund"]]))
        #expect(await judge(named) { $0.scopeClaim = "scp" } == .subject("client-1", scopes: [.refund]))
    }

    @Test func `who issued it, for whom and when is judged, and nothing is left out`() async throws {
        let cases: [(changes: [String: (any Sendable)?], refusal: SignedTokenRefusal?)] = [
            (["iss": "https://issuer.example"], .issuer), (["iss": nil], .issuer), (["iss": [Issuer.name]], .issuer),
            (["aud": "others"], .audience), (["aud": nil], .audience), (["aud": ["others", "payments"]], nil),
            (["aud": ["payments", 7] as [any Sendable]], .audience), (["aud": [String]()], .audience),
            (["exp": seconds - 30], .expired), (["exp": seconds - 29], nil), (["exp": nil], .expired),
            (["exp": "soon"], .expired), (["exp": -1], .expired), (["exp": 1e300], .expired),
            (["nbf": seconds + 30], nil), (["nbf": seconds + 31], .early), (["nbf": "now"], .early),
            (["iat": seconds + 31], .early), (["iat": nil], nil),
            (["sub": nil], .subject), (["sub": ""], .subject), (["sub": 7], .subject),
        ]
        for (changes, refusal) in cases {
            let judgement = await judge(try issuer.token(claims(changes)))
            #expect(
                judgement == refusal.map { .refused($0) } ?? .subject("client-1", scopes: nil), "\(changes)")
        }
    }

    @Test func `the key decides how a token is signed, and only a key of the set is one`() async throws {
        let stranger = Issuer()
        let body = #"{"iss":"https://issuer.example/"}"#
        let known = #"{"alg":"ES256","kid":"es256"}"#
        let cases: [(token: String, refusal: SignedTokenRefusal)] = [
            (try stranger.token(), .signature),
            (try issuer.token(header: ["kid": "nobody"]), .key),
            (try issuer.token(header: ["alg": "ES384"]), .algorithm),
            (try issuer.token(header: ["alg": "none"]), .algorithm),
            (try issuer.token(header: ["alg": "HS256", "kid": "secret"]), .key),
            (try issuer.token(header: ["kid": "short"]), .key), (try issuer.token(header: ["kid": "other-use"]), .key),
            (try issuer.token(header: ["kid": 7]), .malformed),
            (try issuer.token(header: ["crit": ["exp"]]), .malformed),
            (try issuer.token(header: ["b64": false]), .malformed),
            (try issuer.token(header: ["typ": "secevent+jwt"]), .malformed),
            (try issuer.token(header: #"{"kid":"es256"}"#, claims: body), .malformed),
            // Several keys, and no word which one.
            (try issuer.token(header: #"{"alg":"ES256"}"#, claims: body), .key),
            (try issuer.token(header: known, claims: #"{"sub":"a","sub":"b"}"#), .malformed),
            (try issuer.token(header: known, claims: "[]"), .malformed),
        ]
        for (token, refusal) in cases { #expect(await judge(token) == .refused(refusal), "\(token)") }
    }

    @Test func `a token that was changed anywhere is refused`() async throws {
        let token = try issuer.token()
        for index in token.indices {
            var changed = token
            let other: Character = token[index] == "A" ? "B" : "A"
            changed.replaceSubrange(index...index, with: [other])
            if case .subject = await judge(changed) { Issue.record("believed with another character: \(changed)") }
        }
        for cut in [String(token.dropLast()), String(token.dropFirst()), token + ".", "." + token] {
            if case .subject = await judge(cut) { Issue.record("believed: \(cut)") }
        }
        #expect(await judge(String(repeating: "a", count: 9_000)) == .refused(.malformed))
    }
}
