import HTTPEdge
import Testing

@testable import OperationsConsole

/// What the page of a payment says of its webhook.
@Suite struct ConsoleWebhookTests {
    private static func row(_ stage: ConsoleStage) async throws -> String? {
        let vera = try await stage.signIn("vera")
        let page = try await stage.send("GET", "/console/payments/pay_1", session: vera.session)
        #expect(page.status == 200)
        let found = page.body.firstMatch(of: /<div><dt>Webhook<\/dt>(.*?)<\/div>/)
        return found.map { String($0.output.1).replacing(/<[^>]*>/, with: "") }
    }

    @Test(arguments: [
        (#""state":"delivered","delivered_at":"D","due_at":null,"failure":"http_500""#, "delivered D"),
        (#""state":"waiting","delivered_at":null,"due_at":"N","failure":null"#, "waiting, next attempt N"),
        (
            #""state":"waiting","delivered_at":"D","due_at":"N","failure":"http_500""#,
            "waiting, next attempt N, last failure http_500"
        ),
        (
            #""state":"given_up","delivered_at":null,"due_at":null,"failure":"timeout""#,
            "given up, last failure timeout"
        ),
    ])
    func `the page of a payment says how far its webhook got`(members: String, words: String) async throws {
        let answer = ConsoleStage.answer(200, #"{"payment_id":"pay_1","caller":"shop",\#(members)}"#)
        try await ConsoleStage.run(webhook: answer) { stage in
            let row = try await Self.row(stage)
            #expect(row == words)
        }
    }

    @Test func `without a webhook there is no such row, and one that cannot be read says so`() async throws {
        try await ConsoleStage.run { stage in
            let row = try await Self.row(stage)
            #expect(row == nil)
        }
        for (status, words) in [(404, nil), (503, "cannot be read now")] {
            try await ConsoleStage.run(webhook: ConsoleStage.answer(status, #"{"title":"No"}"#)) { stage in
                let row = try await Self.row(stage)
                #expect(row == words)
            }
        }
    }
}
