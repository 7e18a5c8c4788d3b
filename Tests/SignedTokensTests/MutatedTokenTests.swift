import HTTPEdge
import LogCapture
import Logging
import PaymentAPI
import PaymentCore
import SeededChance
import Testing
import VirtualTime

@testable import SignedTokens

/// Signed tokens that somebody changed at random, as text or within one of their parts: none counts as somebody else's
/// or as more than was signed, and none ends the process.
@Suite struct MutatedTokenTests {
    private static let count = Mutator.rounds(5_000)

    private func changed(_ token: [UInt8], _ mutator: inout Mutator) -> [UInt8] {
        guard mutator.chance.happens(percent: 50) else { return mutator.changed(token) }
        var parts = String(decoding: token, as: UTF8.self).split(separator: ".").map(String.init)
        let place = mutator.chance.below(parts.count)
        guard let decoded = Base64URL.decode(parts[place]) else { return mutator.changed(token) }
        parts[place] = Base64URL.encode(mutator.changed(decoded))
        return Array(parts.joined(separator: ".").utf8)
    }

    @Test(arguments: ["es256", "es384", "eddsa"])
    func `of what an issuer signed nothing else counts`(_ key: String) async throws {
        let issuer = Issuer()
        let clock = VirtualClock(at: Issuer.now)
        let logger = Logger(label: "test") { _ in LogLines().handler }
        let keys = KeySetKeeper(trustedFor: .hours(24), clock: clock, logger: logger) { issuer.keySet }
        let tokens = JSONWebTokens(
            TokenRules(issuer: Issuer.name, audience: "payments"), keys: keys, clock: clock)
        var claims = Issuer.claims
        claims["scope"] = "read"
        let genuine = Array(try issuer.token(claims, by: key).utf8)
        let other = Array(try issuer.token(by: key).utf8)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await keys.run() }
            defer { group.cancelAll() }
            let expected = await tokens.judge(String(decoding: genuine, as: UTF8.self))
            #expect(expected == .subject("client-1", scopes: [.read]))
            var mutator = Mutator(seed: 7, words: [genuine, other])
            var refused: [SignedTokenRefusal: Int] = [:]
            for _ in 0..<Self.count {
                let text = String(decoding: changed(genuine, &mutator), as: UTF8.self)
                switch await tokens.judge(text) {
                case .refused(let refusal): refused[refusal, default: 0] += 1
                case let judgement: #expect(judgement == expected, "\(text)")
                }
            }
            #expect(refused[.signature, default: 0] > Self.count / 10 && refused.count >= 3, "\(refused)")
        }
    }
}
