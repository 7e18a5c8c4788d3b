import HTTPTransport
import PaymentCore
import Reconciler
import Testing

@testable import Witnesses

/// What is sent to a table, and what is made of its answers.
@Suite struct ItemWritingTests {
    private static let said = "Sun, 30 Aug 2015 12:36:00 GMT"
    private static let moment = Timestamp(milliseconds: 1_440_938_160_000)

    private func item(_ sender: ScriptedSender) -> DynamoDBItem {
        DynamoDBItem(
            DynamoDBItem.Place(region: "eu-west-1", table: "witness", item: "site"),
            environment: ["AWS_ACCESS_KEY_ID": "AKIA", "AWS_SECRET_ACCESS_KEY": "s"], sender: sender,
            now: { Self.moment })
    }

    private func answer(_ body: String) -> ScriptedSender.Step {
        ScriptedSender.answer(200, fields: HTTPFields([("Date", Self.said)]), body: body)
    }

    @Test func `an answer was made somewhere in the second that it names`() async throws {
        let sender = ScriptedSender([answer("{}")])
        let reading = try await item(sender).read(by: .now + .seconds(60))
        #expect(reading.time == Self.moment...Self.moment + .milliseconds(999))
    }

    @Test func `each document that is written has the number after the one that was read`() async throws {
        let read = #"{"Item":{"id":{"S":"site"},"document":{"S":"{}"},"revision":{"N":"7"}}}"#
        let document = try WitnessModel(text: nil).text()
        let escaped = document.replacing("\"", with: "\\\"")
        let sender = ScriptedSender([answer(read.replacing("{}", with: escaped)), answer("{}"), answer("{}")])
        let item = item(sender)
        let reading = try await item.read(by: .now + .seconds(60))
        #expect(reading.revision == "7")
        #expect(try await item.replace(reading, with: reading.model, by: .now + .seconds(60)))
        let none = WitnessReading(model: reading.model, revision: nil, time: reading.time)
        #expect(try await item.replace(none, with: reading.model, by: .now + .seconds(60)))
        let written = sender.requests.dropFirst().map { String(decoding: $0.body, as: UTF8.self) }
        #expect(written.map { $0.contains(#""revision":{"N":"8"}"#) } == [true, false], "\(written)")
        #expect(written.map { $0.contains(#""revision":{"N":"1"}"#) } == [false, true], "\(written)")
    }

    @Test func `no more is read of an answer than a document may have`() async throws {
        let sender = ScriptedSender([answer("{}")])
        _ = try await item(sender).read(by: .now + .seconds(60))
        #expect(sender.requests.map { $0.maximumResponseBytes <= 65_536 } == [true])
    }
}
