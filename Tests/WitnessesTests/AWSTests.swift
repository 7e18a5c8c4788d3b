import Foundation
import HTTPTransport
import PaymentCore
import Reconciler
import Testing

@testable import Witnesses

/// How requests to AWS are signed, and where the credentials come from.
@Suite struct AWSTests {
    /// 2015-08-30T12:36:00Z, the moment of AWS's test suite for Signature Version 4.
    private static let moment = Timestamp(milliseconds: 1_440_938_160_000)

    /// Answers as told, and keeps what was asked.
    private actor Agent: HTTPSender {
        let answer: HTTPResponse
        private(set) var asked: [HTTPRequest] = []

        init(_ status: Int, _ body: String) { answer = HTTPResponse(status: status, body: Array(body.utf8)) }

        func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
            asked.append(request)
            return answer
        }
    }

    private func signature(token: String? = nil) -> AWSSignature {
        AWSSignature(
            credentials: AWSCredentials(
                accessKey: "AKIDEXAMPLE", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", sessionToken: token,
                expiresAt: nil),
            region: "us-east-1", service: "service")
    }

    @Test func `AWS's own vectors`() throws {
        var plain = HTTPRequest(method: .post, url: "https://example.amazonaws.com/", label: "test")
        signature().sign(&plain, host: "example.amazonaws.com", at: Self.moment)
        let scope = "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"
        #expect(
            plain.fields["Authorization"]
                == "AWS4-HMAC-SHA256 Credential=\(scope), SignedHeaders=host;x-amz-date, "
                + "Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b")
        var form = plain
        form.fields = HTTPFields([("Content-Type", "application/x-www-form-urlencoded")])
        form.body = Array("Param1=value1".utf8)
        signature().sign(&form, host: "example.amazonaws.com", at: Self.moment)
        #expect(
            form.fields["Authorization"]
                == "AWS4-HMAC-SHA256 Credential=\(scope), SignedHeaders=content-type;host;x-amz-date, "
                + "Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a")
        #expect(!"\(signature().credentials)".contains("EXAMPLEKEY"))
    }

    private func source(_ environment: [String: String], _ agent: Agent, at moment: Timestamp = moment)
        -> AWSCredentialSource
    {
        AWSCredentialSource(environment, region: "eu-west-1", sender: agent, now: { moment })
    }

    @Test func `an agent lends credentials, which are kept until shortly before their end`() async throws {
        let ends = "2015-08-30T13:36:00Z"
        let body = #"{"AccessKeyId":"ASIA","SecretAccessKey":"s","Token":"t","Expiration":"\#(ends)"}"#
        let agent = Agent(200, body)
        let variables = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/v1/credentials",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN": "word",
        ]
        let source = source(variables, agent)
        for _ in 0..<2 {
            let credentials = try await source.credentials(by: .now + .seconds(5))
            #expect(credentials.accessKey == "ASIA" && credentials.sessionToken == "t")
        }
        let asked = await agent.asked
        #expect(asked.count == 1 && asked[0].fields["Authorization"] == "word")
        let before = self.source(variables, agent, at: Self.moment + .milliseconds(54 * 60_000 + 59_000))
        for _ in 0..<2 { _ = try await before.credentials(by: .now + .seconds(5)) }
        #expect(await agent.asked.count == 2, "more than five minutes are left")
        let late = self.source(variables, agent, at: Self.moment + .minutes(56))
        for _ in 0..<2 { _ = try await late.credentials(by: .now + .seconds(5)) }
        #expect(await agent.asked.count == 4, "what ends in five minutes is fetched anew")
    }

    @Test func `a role is assumed by a token of the cluster`() async throws {
        let keys = #"{"AccessKeyId":"ASIA","SecretAccessKey":"s","SessionToken":"t","Expiration":1.4409417E9}"#
        let result = #"{"AssumeRoleWithWebIdentityResult":{"Credentials":\#(keys)}}"#
        let agent = Agent(200, #"{"AssumeRoleWithWebIdentityResponse":\#(result)}"#)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try Data("a+b\n".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let variables = ["AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE": file.path]
        let credentials = try await source(variables, agent).credentials(by: .now + .seconds(5))
        #expect(credentials.accessKey == "ASIA" && credentials.expiresAt == Self.moment + .seconds(3_540))
        let asked = try #require(await agent.asked.first)
        #expect(asked.url == "https://sts.eu-west-1.amazonaws.com/")
        #expect(String(decoding: asked.body, as: UTF8.self).hasSuffix("&WebIdentityToken=a%2Bb"))
    }

    @Test(arguments: [
        ([:], "allowed are AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY"),
        (["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://elsewhere.example/"], "leads elsewhere than to an agent"),
        (["AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.23/"], "lends credentials answers 500"),
        (
            ["AWS_ROLE_ARN": "arn", "AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere"],
            "the token file /nowhere (AWS_WEB_IDENTITY_TOKEN_FILE) cannot be read"
        ),
    ])
    func `what is missing is said`(variables: [String: String], words: String) async throws {
        do throws(StoreFailure) {
            _ = try await source(variables, Agent(500, "")).credentials(by: .now + .seconds(5))
            Issue.record("credentials were found")
        } catch {
            #expect(error.cause.contains(words), "\(error)")
        }
    }
}
