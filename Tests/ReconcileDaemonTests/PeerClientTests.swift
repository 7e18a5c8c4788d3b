import HTTPTransport
import PaymentCore
import Testing

@testable import ReconcileDaemon

/// What another site's answer says, and what says nothing.
@Suite struct PeerClientTests {
    private static let store = "sto_" + String(repeating: "a", count: 32)

    private func read(_ status: Int, _ body: String, store: String? = PeerClientTests.store) throws -> PeerAnswer {
        PeerClient.read(
            HTTPResponse(status: status, body: Array(body.utf8)), from: try SiteName("west"),
            of: store.flatMap { StoreID(text: $0) })
    }

    private func body(
        site: String = "west", store: String = PeerClientTests.store, active: String = #""west""#,
        epoch: String = "3"
    ) -> String {
        #"{"site":"\#(site)","store":"\#(store)","active_site":\#(active),"epoch":\#(epoch),"more":1}"#
    }

    @Test func `a site's word is its newest term and the site that is active in it`() throws {
        #expect(try read(200, body()) == .knows(epoch: 3, site: try SiteName("west")))
        #expect(try read(200, body(active: "null", epoch: "0")) == .knows(epoch: 0, site: nil))
    }

    @Test func `what is no word of the other site over the same store says nothing, and why`() throws {
        let other = "sto_" + String(repeating: "b", count: 32)
        let cases: [(Int, String, words: String)] = [
            (401, "", "answers 401"), (503, body(), "answers 503"), (200, "", "something else"),
            (200, "<html>", "something else"), (200, body(epoch: #""3""#), "something else"),
            (200, body(site: "east"), "leads to another site"), (200, body(store: other), "another store"),
            (200, body(epoch: "null"), "not read its own store"), (200, body(epoch: "-1"), "not read its own store"),
            (200, body(active: #""West!""#), "whose name is none"),
        ]
        for (status, body, words) in cases {
            guard case .silent(let reason) = try read(status, body) else {
                Issue.record("\(status) \(body) counts")
                continue
            }
            #expect(reason.contains(words), "\(body): \(reason)")
        }
        #expect(try read(200, body(), store: nil) == .silent("it works on another store"))
    }
}
