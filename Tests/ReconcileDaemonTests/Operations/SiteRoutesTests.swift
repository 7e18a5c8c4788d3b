import APIDescription
import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// Changes of role by the operations API.
@Suite struct SiteRoutesTests {
    private static let fenced = #"{"reason":"Standby gone.","fenced_by":"Its power is off."}"#

    @Test func `a second person approves with a token of their own`() async throws {
        let book = try OperationsBook()
        try await RunningOperations.run(book, needsSecondPerson: true) { api in
            func promote(_ approval: String?) async throws -> RunningOperations.Reply {
                try await api.send("POST", "/v1/site/promote", Self.fenced, approval: approval)
            }
            let alone = try await promote(nil)
            #expect(alone.status == 409)
            let names = try alone.json()["obstacles"]?.items.compactMap { $0["name"]?.string }
            #expect(names == ["second_person_missing"])
            let same = try await promote(RunningOperations.tokens["hana"])
            #expect(same.status == 409 && same.text.contains("same_person"))
            let nobody = try await promote("nobody's token")
            #expect(try nobody.status == 401 && nobody["field"] == "Approval", "\(nobody.text)")
            let viewer = try await promote(RunningOperations.tokens["vera"])
            #expect(try viewer.status == 403 && viewer["field"] == "Approval", "\(viewer.text)")
            #expect(try await book.store.siteTerms(limit: 1).first?.fencedBy == nil)
            let two = try await promote(RunningOperations.tokens["ken"])
            #expect(two.status == 200, "\(two.text)")
            let term = try two.json()["term"]
            #expect(term?["by"]?.string == "hana" && term?["approved_by"]?.string == "ken")
            #expect(try two.json()["epoch"]?.integer == 2)
            #expect(try await book.store.siteTerms(limit: 1).first?.fencedBy == "Its power is off.")
        }
    }

    @Test func `a mode that is set is seen by everybody`() async throws {
        let book = try OperationsBook()
        try await RunningOperations.run(book) { api in
            #expect(try await api.post("/v1/site/mode", #"{"mode":"read-only"}"#).status == 200)
            let site = try await api.get("/v1/site")
            #expect(try site["mode"] == "read-only")
            #expect(try await book.store.siteReading().row.mode == .readOnly)
        }
    }
}
