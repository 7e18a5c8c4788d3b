import Crypto
import Foundation
import HTTPTransport
import Testing

@testable import Webhooks

@Suite struct SignedMessageTests {
    private static let first = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let second = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()

    /// The example of the Standard Webhooks specification.
    @Test func `a signature is that of the specification`() throws {
        let secret = try #require(WebhookSecret(Self.first))
        let signature = secret.signature(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek", timestamp: 1_614_265_330, body: Array(#"{"test": 2432232314}"#.utf8))
        #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
        "", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_not base64!", "WHSEC_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        "whsec_" + Data(repeating: 1, count: 23).base64EncodedString(),
        "whsec_" + Data(repeating: 1, count: 65).base64EncodedString(),
    ])
    func `what is no secret is none`(_ text: String) {
        #expect(WebhookSecret(text) == nil)
    }

    @Test func `a secret of the least and of the most bytes counts, and shows itself to nobody`() throws {
        for count in [24, 64] {
            let secret = try #require(WebhookSecret("whsec_" + Data(repeating: 9, count: count).base64EncodedString()))
            #expect("\(secret)" == "WebhookSecret(redacted)")
            #expect("\(WebhookSecrets([secret]))" == "WebhookSecrets(redacted)")
        }
    }

    @Test func `other secrets take the place of those before, and the same ones change nothing`() throws {
        let secrets = try [Self.first, Self.second].map { try #require(WebhookSecret($0)) }
        let held = WebhookSecrets([secrets[0]])
        #expect(!held.replace(with: [secrets[0]]))
        #expect(held.replace(with: secrets) && held.current == secrets)
        #expect(!held.replace(with: secrets) && held.current == secrets)
    }

    @Test func `both secrets sign while one is replaced`() throws {
        let secrets = try [Self.first, Self.second].map { try #require(WebhookSecret($0)) }
        let message = SignedMessage(body: Array("{}".utf8), timestamp: 1_614_265_330, secrets: secrets)
        #expect(message.fields["webhook-timestamp"] == "1614265330")
        let signatures = try #require(message.fields["webhook-signature"]).split(separator: " ")
        #expect(signatures.count == 2)
        for (secret, signature) in zip([Self.first, Self.second], signatures) {
            let key = SymmetricKey(data: try #require(Data(base64Encoded: String(secret.dropFirst(6)))))
            let signed = Data("\(message.id).1614265330.{}".utf8)
            let code = Data(HMAC<SHA256>.authenticationCode(for: signed, using: key))
            #expect(signature == "v1,\(code.base64EncodedString())")
        }
    }

    @Test func `the same body has the same identifier at any time and under any secret, and another body another`()
        throws
    {
        let secret = try #require(WebhookSecret(Self.first))
        let message = SignedMessage(body: Array("{}".utf8), timestamp: 1, secrets: [secret])
        #expect(message.id == SignedMessage(body: Array("{}".utf8), timestamp: 2, secrets: []).id)
        #expect(message.id != SignedMessage(body: Array("{ }".utf8), timestamp: 1, secrets: [secret]).id)
        #expect(message.id.wholeMatch(of: /msg_[0-9a-f]{40}/) != nil)
        #expect(message.fields["webhook-id"] == message.id)
    }
}
