import PaymentCore
import Reconciler
import Testing

@testable import PaymentAPI

struct AuthenticationTests {
    @Test(arguments: [
        nil, "", "wrong", "shop-token-0001 ", "shop-token-000", "shop-token-00011", "SHOP-TOKEN-0001",
    ])
    func `without a valid token every route is 401 and nothing is asked`(_ token: String?) async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id.text
            var answers = [try await api.send("POST", "/v1/payments", body: RunningAPI.twoLegs, token: token)]
            for path in ["", "/\(id)", "/\(id)/events", "/\(id)/webhook"] {
                answers.append(try await api.get("/v1/payments\(path)", token: token))
            }
            for route in ["capture", "cancel", "refunds", "reconcile"] {
                answers.append(try await api.send("POST", "/v1/payments/\(id)/\(route)", token: token))
            }
            // Blanks at the end of a header are no part of it.
            let expected = token == "shop-token-0001 " ? 9 : 0
            #expect(answers.filter { $0.status != 401 }.count == expected)
            for answer in answers where answer.status == 401 {
                #expect(answer.headers["www-authenticate"] == "Bearer")
                #expect(try answer.string("type") == "/problems/unauthorized")
            }
            #expect(expected > 0 || api.operations.calls.isEmpty)
        }
    }

    @Test func `another scheme, or two tokens, are no authentication`() async throws {
        try await RunningAPI.run { api in
            for header in ["Basic c2hvcA==", RunningAPI.token, "Bearer", "Bearer  \(RunningAPI.token)"] {
                let answer = try await api.send(
                    "GET", "/v1/payments", headers: [("Authorization", header)], token: nil)
                #expect(answer.status == 401, "\(header)")
            }
            let two = try await api.send(
                "GET", "/v1/payments", headers: [("Authorization", "Bearer \(RunningAPI.otherToken)")])
            #expect(two.status == 401)
            let lower = try await api.send(
                "GET", "/v1/payments", headers: [("Authorization", "bearer \(RunningAPI.token)")], token: nil)
            #expect(lower.status == 200)
        }
    }

    @Test func `the caller comes from the token`() async throws {
        try await RunningAPI.run { api in
            _ = try await api.get("/v1/payments")
            _ = try await api.get("/v1/payments", token: RunningAPI.otherToken)
            #expect(api.operations.queries.map { $0.caller?.name } == ["shop", "kiosk"])
        }
    }

    private struct Believing: SignedTokenJudge {
        func judge(_ token: String) async -> SignedTokenJudgement { .subject("shop", scopes: nil) }
    }

    @Test func `a token that is too long is not looked at`() async throws {
        let caller = try CallerID("shop")
        let directory = try CallerDirectory([], subjects: ["shop": CallerAccess(caller)])
        let identity = CallerIdentity(callers: directory, signed: Believing())
        func bearer(_ length: Int) async -> CallerIdentity.Bearer {
            await identity.bearer(authorization: ["Bearer \(String(repeating: "a", count: length - 4)).b.c"])
        }
        #expect(await bearer(8_192).access?.caller == caller)
        #expect(await bearer(8_193) == .refused(nil))
        let unsigned = CallerIdentity(callers: directory, signed: nil)
        #expect(await unsigned.bearer(authorization: ["Bearer a.b.c"]) == .refused(nil))
    }

    @Test func `a token belongs to one caller, a caller may have two`() throws {
        let digest = try #require(CallerDirectory.digest(ofToken: "a"))
        #expect(digest.hex == "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb")
        let other = try #require(CallerDirectory.digest(ofToken: "b"))
        let shop = try CallerID("shop")
        let kiosk = try CallerID("kiosk")
        #expect(throws: CallerDirectory.AmbiguousToken(callers: [shop, kiosk])) {
            _ = try CallerDirectory([(CallerAccess(shop), digest), (CallerAccess(kiosk), digest)])
        }
        let directory = try CallerDirectory([(CallerAccess(shop), digest), (CallerAccess(shop), other)])
        #expect(directory.access(bearing: "a")?.caller == shop && directory.access(bearing: "b")?.caller == shop)
        #expect(directory.access(bearing: "c") == nil)
    }

    @Test func `a token does not have two rights`() throws {
        let digest = try #require(CallerDirectory.digest(ofToken: "a"))
        let shop = try CallerID("shop")
        #expect(throws: CallerDirectory.AmbiguousToken(callers: [shop, shop])) {
            _ = try CallerDirectory([
                (CallerAccess(shop), digest), (CallerAccess(shop, token: "reader", scopes: [.read]), digest),
            ])
        }
    }
}
