import HTTPTransport
import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// How requests to PayPay are signed. The expected values were computed with Python's `hmac` and `hashlib`.
struct PayPaySignatureTests {
    private static let token = "key-1:secret-1:merchant-1"
    private static let body = #"{"amount":{"amount":1200,"currency":"JPY"},"note":"円"}"#

    @Test(arguments: [
        (
            HTTPMethod.post, "/v2/payments", body,
            "fkRzapGlisQ1ZHKPznN3X7ulAT/O+YLCOA3y+w5pfFQ=:acd028aB:1772366400:TI8Kb1a/MbaGGP7RbgS4OA=="
        ),
        (.get, "/v2/payments/4711_a-b", "", "Gasa1xTafyaAljx/NGiDsYvCxMPtsPqMZLB9YgVCui0=:acd028aB:1772366400:empty"),
        (
            .delete, "/v2/payments/4711_a-b", "",
            "yK1KfohkOYxBqBfxbXUsxKdVnqgHV0O35ZeFtedF6Kw=:acd028aB:1772366400:empty"
        ),
    ])
    func `a signature is what was computed independently`(
        method: HTTPMethod, path: String, body: String, expected: String
    ) throws {
        let signature = PayPaySignature(
            method: method.rawValue, path: path, body: Array(body.utf8), nonce: "acd028aB", epoch: 1_772_366_400)
        let credentials = try #require(PayPayCredentials(Self.token))
        #expect(signature.header(credentials) == "hmac OPA-Auth:key-1:" + expected)
    }

    @Test func `the layer signs what is sent, and says for whom`() async throws {
        let wire = ScriptedSender([ScriptedSender.answer(200), ScriptedSender.answer(401)])
        let layer = PayPaySigning(
            source: ReplaceableToken(BearerToken(Self.token)), clock: StandingClock(), nonce: { "acd028aB" })
        var request = HTTPRequest(method: .post, url: "https://paypay.example/v2/payments", label: "create_payment")
        request.body = Array(Self.body.utf8)
        request.fields["Content-Type"] = "application/json"
        _ = try await layer.send(request, next: wire)
        request = HTTPRequest(
            method: .get, url: "https://paypay.example/v2/payments/4711_a-b?x=/y", label: "get_payment")
        _ = try await layer.send(request, next: wire)
        let sent = wire.requests
        #expect(
            sent.map { $0.fields["Authorization"] } == [
                "hmac OPA-Auth:key-1:fkRzapGlisQ1ZHKPznN3X7ulAT/O+YLCOA3y+w5pfFQ=:acd028aB:1772366400:"
                    + "TI8Kb1a/MbaGGP7RbgS4OA==",
                "hmac OPA-Auth:key-1:Gasa1xTafyaAljx/NGiDsYvCxMPtsPqMZLB9YgVCui0=:acd028aB:1772366400:empty",
            ])
        #expect(sent.map { $0.fields["X-ASSUME-MERCHANT"] } == ["merchant-1", "merchant-1"])
        #expect(sent.map { $0.fields["Content-Type"] } == ["application/json;charset=UTF-8", nil])
    }

    @Test func `each request has a nonce of its own`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        let layer = PayPaySigning(source: ReplaceableToken(BearerToken(Self.token)), clock: StandingClock())
        let request = HTTPRequest(method: .get, url: "https://paypay.example/v2/payments/1", label: "get_payment")
        for _ in 0..<20 { _ = try await layer.send(request, next: wire) }
        let nonces = wire.requests.compactMap { $0.fields["Authorization"]?.split(separator: ":").dropFirst(3).first }
        #expect(nonces.count == 20 && Set(nonces).count == 20 && nonces.allSatisfy { $0.utf8.count == 8 })
    }

    @Test(arguments: ["", "only-one", "two:parts", "four:of:these:parts", ":secret:merchant", "key::merchant", "k:s:"])
    func `a token of another form sends nothing, and is not repeated`(token: String) async throws {
        #expect(PayPayCredentials.problem(with: token)?.contains("API_KEY:API_SECRET:MERCHANT_ID") == true)
        let wire = ScriptedSender()
        let layer = PayPaySigning(source: ReplaceableToken(BearerToken(token)), clock: StandingClock())
        let request = HTTPRequest(method: .get, url: "https://paypay.example/v2/payments/1", label: "get_payment")
        do {
            _ = try await layer.send(request, next: wire)
            Issue.record("it was sent")
        } catch {
            #expect(error.code == .invalidRequest && error.provablyNotSent)
            #expect(token.isEmpty || !error.detail.contains(token))
        }
        #expect(wire.requests.isEmpty)
    }

    @Test func `a failed fetch of the token proves that nothing was sent`() async {
        struct Broken: TokenSource {
            func token() async throws(TransportFailure) -> BearerToken {
                throw TransportFailure(code: .connectionReset, phase: .receiving, bytesWritten: 400)
            }
            func markStale(_ token: BearerToken) async {}
        }
        let request = HTTPRequest(method: .get, url: "https://paypay.example/v2/payments/1", label: "get_payment")
        await #expect(throws: TransportFailure.self) {
            _ = try await PayPaySigning(source: Broken(), clock: StandingClock()).send(request, next: ScriptedSender())
        }
    }

    @Test(arguments: [
        ("https://apigw.paypay.ne.jp/v2/payments", "/v2/payments"), ("http://127.0.0.1:8080/a/b?c=/d", "/a/b"),
        ("https://host", "/"), ("https://host?x", "/"), ("", "/"),
    ])
    func `what is signed is the path without the query`(url: String, path: String) {
        #expect(PayPaySignature.path(of: url) == path)
    }
}
