import APIDescription
import MemoryStore
import Reconciler
import StoreContract
import Testing

@testable import PaymentCore

@Suite struct DiscrepancyRoutesTests {
    private let all = "/v1/discrepancies"

    @Test func `the queue is filtered, and paged oldest first`() async throws {
        let book = try OperationsBook()
        let payment = try PaymentID(caller: CallerID("shop"), key: IdempotencyKey("order-1"))
        let kept = try await book.keep([
            try book.finding("a", .foreign), try book.finding("b", .orphan, amount: 9_200, payment: payment),
            try book.finding("c", .duplicate, amount: 500), try book.finding("d", .orphan),
        ])
        let desk = try book.desk()
        _ = try await desk.change(kept[2].id, .assign(to: "ken"), by: "hana", version: nil)
        _ = try await desk.change(kept[3].id, .close(reason: "Written off."), by: "hana", version: nil)
        let second = kept[1].openedAt.rfc3339
        try await RunningOperations.run(book) { api in
            let cases: [(query: String, keys: [String])] = [
                ("", ["a", "b", "c"]), ("?state=all", ["a", "b", "c", "d"]), ("?state=closed", ["d"]),
                ("?state=settling", []), ("?class=orphan", ["b"]), ("?class=orphan&state=all", ["b", "d"]),
                ("?provider=cards", ["a", "b", "c"]), ("?provider=other", []), ("?payment=\(payment)", ["b"]),
                ("?assignee=ken", ["c"]), ("?assignee=", ["a", "b"]), ("?opened_before=\(second)", ["a"]),
                ("?at_risk_from=1000&currency=JPY", ["a", "b"]), ("?at_risk_from=1000&currency=EUR", []),
            ]
            for (query, keys) in cases {
                let items = try await api.get(all + query).json()["data"]?.items ?? []
                #expect(items.compactMap { $0["subject"]?["key"]?.string } == keys, "\(query)")
            }
            let first = try await api.get("\(all)?limit=2").json()
            let cursor = try #require(first["next_cursor"]?.string)
            let rest = try await api.get("\(all)?limit=2&cursor=\(cursor)").json()
            #expect(rest["data"]?.items.compactMap { $0["subject"]?["key"]?.string } == ["c"])
            #expect(rest["next_cursor"] == .null)
            for wrong in [
                "class=matched", "state=done", "payment=x", "opened_before=today", "at_risk_from=5", "currency=JPY",
                "at_risk_from=-5&currency=JPY", "at_risk_from=5&currency=Yen", "limit=0", "limit=201",
                "class=orphan&cursor=\(cursor)", "assignee=\(String(repeating: "a", count: 129))",
            ] {
                #expect(try await api.get("\(all)?\(wrong)").status == 400, "\(wrong)")
            }
        }
    }

    @Test func `two people do not overwrite each other: the second is told what is there now`() async throws {
        let book = try OperationsBook()
        let kept = try #require(try await book.keep([try book.finding("a")]).first)
        let one = "\(all)/\(kept.id)"
        try await RunningOperations.run(book) { api in
            let version = try #require(try await api.get(one).json()["version"]?.integer)
            let mine = try await api.post("\(one)/assignment", #"{"assignee":"hana","version":\#(version)}"#)
            #expect(mine.status == 200)
            #expect(try mine["assignee"] == "hana")
            let yours = try await api.post(
                "\(one)/assignment", #"{"assignee":"ken","version":\#(version)}"#, as: "ken")
            #expect(try yours.status == 409 && yours["type"] == "/problems/version-conflict")
            let current = try #require(try yours.json()["current"])
            #expect(current["assignee"]?.string == "hana")
            let next = try #require(current["version"]?.integer)
            #expect(next == version + 1)
            let closed = try await api.post("\(one)/close", #"{"reason":"Paid twice.","version":\#(next)}"#, as: "ken")
            #expect(try closed["close_reason"] == "resolved_by_person")
            let history = try closed.json()["history"]?.items ?? []
            #expect(history.map { $0["kind"]?.string } == ["opened", "assigned", "closed"])
            #expect(history.map { $0["by"]?.string } == [nil, "hana", "ken"])
            #expect(history.last?["text"]?.string == "Paid twice.")
            // Closed once; comments are still taken.
            let late = try await api.post("\(one)/assignment", #"{"assignee":null,"version":\#(next + 1)}"#)
            #expect(try late.status == 409 && late["type"] == "/problems/state-conflict")
            let words = try await api.post("\(one)/comments", #"{"text":"Booked.","version":\#(next + 1)}"#)
            #expect(try words.status == 200 && words["state"] == "closed")
        }
    }

    @Test func `of many who close at once with the same version one does`() async throws {
        let book = try OperationsBook()
        let kept = try #require(try await book.keep([try book.finding("a")]).first)
        let collected = Collected()
        try await RunningOperations.run(book) { api in
            try await withThrowingTaskGroup(of: Int.self) { people in
                for number in 0..<8 {
                    people.addTask {
                        let body = #"{"reason":"Number \#(number).","version":\#(kept.version)}"#
                        return try await api.post("\(all)/\(kept.id)/close", body).status
                    }
                }
                for try await status in people { await collected.add(status) }
            }
        }
        let statuses = await collected.statuses
        #expect(statuses.count { $0 == 200 } == 1 && statuses.count { $0 == 409 } == 7, "\(statuses)")
        let history = try #require(try await book.store.discrepancies([kept.id]).first).history
        #expect(history.map(\.kind) == [.opened, .closed])
    }

    private actor Collected {
        private(set) var statuses: [Int] = []
        func add(_ status: Int) { statuses.append(status) }
    }

    @Test func `a discrepancy shows both sides, what is suggested, and when`() async throws {
        let book = try OperationsBook()
        let work = try await Scenario(store: book.store, clock: book.clock).settle(.init("order-1"))
        let ours = try #require(work.payment.bookedPositions.first)
        let finding = try book.finding("b", .amountDiffers, amount: 900, payment: work.payment.id, ours: ours)
        let kept = try #require(try await book.keep([finding]).first)
        try await RunningOperations.run(book) { api in
            let shown = try await api.get("\(all)/\(kept.id)").json()
            #expect(shown["class"]?.string == "amount_differs" && shown["state"]?.string == "open")
            #expect(shown["payment"]?.string == work.payment.id.text)
            #expect(shown["ours_net"]?["value"]?.integer == 1_200)
            #expect(shown["theirs_net"]?["value"]?.integer == 700)
            #expect(shown["at_risk"]?["value"]?.integer == 500)
            #expect(shown["suggested_action"]?.string == "tell" && shown["acts_at"]?.string != nil)
            let evidence = shown["evidence"]
            #expect(evidence?["ours"]?["standing"]?.string == "taken")
            #expect(evidence?["theirs"]?["refunds"]?.items.first?["amount"]?["value"]?.integer == 200)
            #expect(evidence?["row"]?.string == "a.row")
        }
    }

    @Test func `bodies are bounded, and nothing is done by halves`() async throws {
        let book = try OperationsBook()
        let kept = try #require(try await book.keep([try book.finding("a")]).first)
        let one = "\(all)/\(kept.id)"
        let version = kept.version
        let long = String(repeating: "ü", count: 2_001)
        try await RunningOperations.run(book) { api in
            let cases: [(route: String, body: String, status: Int, field: String?)] = [
                ("assignment", #"{"assignee":"mallory","version":\#(version)}"#, 422, "assignee"),
                ("assignment", #"{"assignee":5,"version":\#(version)}"#, 400, "assignee"),
                ("assignment", #"{"version":\#(version)}"#, 400, "assignee"),
                ("assignment", #"{"assignee":"ken"}"#, 400, "version"),
                ("assignment", #"{"assignee":"ken","version":0}"#, 400, "version"),
                ("comments", #"{"text":"","version":\#(version)}"#, 400, "text"),
                ("comments", #"{"text":"\#(long)","version":\#(version)}"#, 400, "text"),
                ("close", #"{"reason":"\#(long)","version":\#(version)}"#, 400, "reason"),
                ("close", #"{"reason":"x","version":\#(version),"force":true}"#, 400, "force"),
                ("close", "[]", 400, nil), ("close", #"{"reason":"x""#, 400, nil),
            ]
            for (route, body, status, field) in cases {
                let reply = try await api.post("\(one)/\(route)", body)
                #expect(reply.status == status, "\(body): \(reply.text)")
                #expect(try reply["field"] == field, "\(reply.text)")
            }
            let unknown = try await api.post("\(one)/assignment", #"{"assignee":"mallory","version":\#(version)}"#)
            #expect(try unknown["detail"]?.contains("allowed: hana, ken") == true)
        }
        #expect(try await book.store.discrepancies([kept.id]) == [kept])
    }
}
