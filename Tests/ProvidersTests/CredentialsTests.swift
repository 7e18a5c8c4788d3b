import Testing

@testable import Providers

/// What holds the parts of a provider's token.
@Suite struct CredentialsTests {
    @Test func `credentials do not describe themselves`() throws {
        let all: [any Secretive] = [
            try #require(PayPayCredentials("key-1:secret-1:merchant-1")),
            try #require(AdyenCredentials("merchant-1:secret-1:key-1")),
        ]
        for credentials in all {
            var dumped = ""
            dump(credentials, to: &dumped)
            for text in ["\(credentials)", String(reflecting: credentials), dumped] {
                #expect(!text.contains("secret-1") && !text.contains("key-1"), "\(text)")
                #expect(text.contains("Credentials(redacted)"), "\(text)")
            }
        }
    }
}
