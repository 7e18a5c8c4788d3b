import APIDescription
import MemoryStore
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore

@Suite struct ReconciliationRoutesTests {
    private let all = "/v1/reconciliations"

    @Test func `the same wish is the same run, and again is the next attempt once it has ended`() async throws {
        let book = try OperationsBook()
        let wish = book.wish(try book.day())
        let again = book.wish(try book.day(), more: #","again":true"#)
        try await RunningOperations.run(book) { api in
            let first = try await api.post(all, wish)
            #expect(first.status == 202)
            let id = try #require(try first["id"])
            #expect(first.headers["location"] == "\(all)/\(id)")
            #expect(try first["state"] == "planned" && first["kind"] == "asked")
            // Another person, later: the same run. So it is with `again` while nobody has ended it.
            book.clock.advance(by: .hours(1))
            #expect(try await api.post(all, wish, as: "ken")["id"] == id)
            #expect(try await api.post(all, again)["id"] == id)
            let dry = try await api.post(all, book.wish(try book.day(), more: #","dry_run":true"#))
            #expect(try dry["id"] != id)
            let given = try await api.send("POST", "\(all)/\(id)/abandon")
            #expect(try given.status == 200 && given["state"] == "abandoned")
            #expect(try await api.post(all, wish)["state"] == "abandoned")
            let second = try await api.post(all, again)
            #expect(try second["state"] == "planned" && second["id"] != id)
            #expect(try second.json()["attempt"]?.integer == 1)
            // From here on the newest attempt is meant.
            #expect(try await api.post(all, wish)["id"] == second["id"])
        }
    }

    @Test func `what cannot be compared is refused with what is allowed`() async throws {
        let book = try OperationsBook()
        let now = ManualClock.start
        let young = try #require(ComparedWindow(from: now + .hours(-1), to: now))
        try await RunningOperations.run(book) { api in
            let cases: [(body: String, status: Int, field: String, words: String)] = [
                (book.wish(try book.day(), provider: "unheard"), 422, "provider", "allowed: cards"),
                (book.wish(try book.day(), provider: "points"), 422, "provider", "does not list"),
                (book.wish(young), 422, "to", "may still be in flight"),
                (book.wish(try book.day(), more: #","to":1"#), 400, "to", "same member twice"),
                (book.wish(try book.day(), more: #","force":true"#), 400, "force", "allowed: provider, from, to"),
                (book.wish(try book.day(), more: #","again":1"#), 400, "again", "true or false"),
                (
                    #"{"provider":"cards","from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"}"#, 422, "to",
                    "after from"
                ),
                (#"{"provider":"cards","from":"yesterday","to":"2026-01-01T00:00:00Z"}"#, 400, "from", "RFC 3339"),
                (#"{"provider":"cards"}"#, 400, "from", "required"),
            ]
            for (body, status, field, words) in cases {
                let reply = try await api.post(all, body)
                #expect(reply.status == status, "\(body): \(reply.text)")
                #expect(try reply["field"] == field, "\(reply.text)")
                #expect(try reply["detail"]?.contains(words) == true, "\(reply.text)")
            }
            #expect(try await api.get(all).json()["data"]?.items.isEmpty == true)
        }
    }

    @Test func `a run shows its progress while it runs, and its proof when it is done`() async throws {
        let book = try OperationsBook()
        let other = try await book.completed(
            book.run(try book.day(1), kind: .asked), [try book.finding("x", payment: nil)])
        let run = book.run(try book.day())
        _ = try await book.store.begin(run)
        let claimed = try await book.claim(run.id)
        var work = claimed.run
        (work.state, work.startedAt, work.checkpoint) = (.running, book.clock.now(), .init(.listing))
        work.counts.listed = 500
        work.counts[.matched] = 499
        let yen = try #require(Currency(code: "JPY"))
        work.moved = NetSums([yen: .init(ours: 5, theirs: 7)])
        let stored = try await book.record(claimed, work)
        try await RunningOperations.run(book) { api in
            let running = try await api.get("\(all)/\(stored.id)").json()
            #expect(running["state"]?.string == "running" && running["phase"]?.string == "listing")
            #expect(running["steps"]?.integer == 1)
            #expect(running["counts"]?["listed"]?.integer == 500)
            #expect(running["counts"]?["by_class"]?["matched"]?.integer == 499)
            #expect(running["proven"] == .null)
            let balance = try #require(running["balances"]?.items.first)
            #expect(balance["moved"]?["theirs"]?.integer == 7 && balance["closing"] == .null)
            let done = try await api.get("\(all)/\(other.id)").json()
            #expect(done["proven"] == .bool(true))
            let proof = try #require(done["balances"]?.items.first)
            #expect(proof["explained"]?["discrepancies"]?.integer == -1_000)
            #expect(proof["unexplained"]?.integer == 0)
        }
    }

    @Test func `runs are filtered and paged newest first, and a cursor belongs to its filters`() async throws {
        let book = try OperationsBook()
        var ids: [String] = []
        for day in 0..<5 {
            let run = book.run(try book.day(Int64(day)), kind: day == 2 ? .asked : .scheduled)
            _ = try await book.store.begin(run)
            ids.insert(run.id.text, at: 0)
            book.clock.advance(by: .minutes(1))
        }
        let expected = ids
        try await RunningOperations.run(book) { api in
            var found: [String] = []
            var cursor: String?
            repeat {
                let page = try await api.get("\(all)?limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")).json()
                found += page["data"]?.items.compactMap { $0["id"]?.string } ?? []
                cursor = page["next_cursor"]?.string
                if let cursor {
                    let stolen = try await api.get("\(all)?limit=2&kind=asked&cursor=\(cursor)")
                    #expect(try stolen.status == 400 && stolen["field"] == "cursor")
                }
            } while cursor != nil
            #expect(found == expected)
            for (filter, count) in [
                ("kind=asked", 1), ("kind=scheduled", 4), ("state=planned", 5), ("state=completed", 0),
                ("provider=cards", 5), ("provider=other", 0),
            ] {
                #expect(try await api.get("\(all)?\(filter)").json()["data"]?.items.count == count, "\(filter)")
            }
            let wrong = try await api.get("\(all)?state=done")
            #expect(try wrong["detail"] == "Must be one of planned, running, completed, abandoned.")
        }
    }

    @Test func `findings are read page by page with both sides, while their run goes on`() async throws {
        let book = try OperationsBook()
        let found = try (0..<5).map { try book.finding("key-\($0)", .duplicate) }
        let run = book.run(try book.day(), isDry: true)
        _ = try await book.store.begin(run)
        let claimed = try await book.claim(run.id)
        let open = try await book.record(claimed, claimed.run, found)
        try await RunningOperations.run(book) { api in
            var keys: Set<String> = []
            var cursor: String?
            var pages = 0
            repeat {
                let target = "\(all)/\(open.id)/findings?limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")
                let page = try await api.get(target).json()
                for item in page["data"]?.items ?? [] {
                    #expect(item["outcome"]?.string == "opened" && item["action"]?.string == "tell")
                    let theirs = item["evidence"]?["theirs"]
                    #expect(theirs?["net"]?["value"]?.integer == 1_000)
                    keys.insert(theirs?["key"]?.string ?? "")
                }
                cursor = page["next_cursor"]?.string
                pages += 1
            } while cursor != nil
            #expect(pages == 3 && keys == Set((0..<5).map { "key-\($0)" }))
            // Of a dry run nothing is queued.
            #expect(try await api.get("/v1/discrepancies?state=all").json()["data"]?.items.isEmpty == true)
        }
    }
}
