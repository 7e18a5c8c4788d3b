import HTTPTransport
import Testing

@testable import Witnesses

/// One question to a witness.
@Suite struct AskingTests {
    private let request = HTTPRequest(method: .get, url: "https://witness.example/lease", label: "look")

    @Test func `no part of a question takes longer than what is left of its time`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        _ = try await wire.ask(request, by: .now + .milliseconds(700))
        let limits = try #require(wire.requests.first?.limits)
        for limit in [limits.connect, limits.tls, limits.firstByte, limits.total] {
            #expect(limit > .zero && limit <= .milliseconds(700))
        }
    }

    @Test func `nothing is asked once its time is over`() async throws {
        let wire = ScriptedSender([], otherwise: ScriptedSender.answer(200))
        await #expect(throws: (any Error).self) { try await wire.ask(request, by: .now) }
        #expect(wire.requests.isEmpty)
    }
}
