import APIDescription
import MemoryStore
import OperationsConsole
import Reconciler
import StoreContract

@testable import PaymentCore

/// Requests that bring each operation of the operations API into each status that its description names.
struct Exchanges: Sendable {
    /// One request and the status that it must get.
    struct Step: Sendable {
        var operation: DescribedAPI.Operation
        var target: String
        var body: String?
        var person: String? = "hana"
        var contentType = "application/json"
        var status: Int
        var fault: (code: StoreFailure.Code, operation: StoreOperation)?
    }

    /// What exists in the book.
    struct Paths: Sendable {
        let payment: PaymentID
        let run: ComparisonRunID
        let discrepancy: Discrepancy
        /// Three that wait for people, and a proposal about the first two.
        let waiting: [Payment]
        let repairs: [Repair]

        init(_ book: OperationsBook) async throws {
            await book.store.report(to: [try CallerID("shop")])
            let work = try await Scenario(store: book.store, clock: book.clock).settle(.init("order-1"))
            payment = work.payment.id
            let ours = work.payment.bookedPositions.first
            let found = [
                try book.finding("orphan", .orphan, payment: payment),
                try book.finding("differs", .amountDiffers, amount: 900, payment: payment, ours: ours),
            ]
            run = try await book.completed(book.run(try book.day()), found).id
            guard let kept = try await book.store.discrepancies([found[1].id]).first else {
                throw RunningOperations.Failure(description: "no discrepancy")
            }
            discrepancy = kept
            var waiting: [Payment] = []
            for number in 0..<3 { waiting.append(try await book.quarantined("waits-\(number)")) }
            self.waiting = waiting
            let desk = RepairDesk(store: book.store, context: book.context)
            var repairs: [Repair] = []
            for payment in waiting.prefix(2) {
                let evidence = Repair.Evidence(text: "Their mail of today.")
                let request = RepairRequest(
                    payment: payment.id, target: .leg(0), action: .resume, evidence: evidence,
                    isAgainstProvider: false, version: payment.version, by: "hana", lasts: .hours(24))
                repairs.append(try await desk.propose(request))
            }
            self.repairs = repairs
        }
    }

    /// Whether comparisons are switched on.
    var isEnabled = true
    /// A check behind the probes.
    var check: HealthCheck?
    let steps: @Sendable (OperationsBook, Paths) throws -> [Step]

    static let parts: [Exchanges] = [
        Exchanges { _, _ in probes(200) + descriptions },
        Exchanges(check: HealthCheck("store") { .fail("It is away.") }) { _, _ in probes(503) },
        Exchanges { _, paths in payments(paths) },
        Exchanges { book, paths in try runs(book, paths) },
        Exchanges(isEnabled: false) { book, _ in
            [step(409, "POST", "/v1/reconciliations", body: book.wish(try book.day()))]
        },
        Exchanges { _, paths in discrepancies(paths) },
        Exchanges { _, paths in changes(paths) },
        Exchanges { _, paths in repairs(paths) },
        Exchanges { _, paths in repairsOfDiscrepancies(paths) },
        Exchanges { _, paths in webhooks(paths) },
        Exchanges { _, _ in site },
    ]

    static let unknown = String(repeating: "0", count: 40)
    private static let large = #"{"text":""# + String(repeating: "x", count: 40_000) + #""}"#
    /// Digits that pass the check of a card number, put together so that no file holds them.
    static let card = ["4111", "1111", "1111", "1111"].joined()

    static func step(
        _ status: Int, _ method: String, _ path: String, _ target: String? = nil, body: String? = nil
    ) -> Step {
        Step(operation: .init(method: method, path: path), target: target ?? path, body: body, status: status)
    }

    /// No token, the store away, and the store damaged: what every operation on stored things knows.
    static func usual(
        _ method: String, _ path: String, _ target: String, body: String? = nil, _ store: StoreOperation
    ) -> [Step] {
        var stranger = step(401, method, path, target, body: body)
        stranger.person = nil
        var viewer = step(403, method, path, target, body: body)
        viewer.person = "vera"
        var away = step(503, method, path, target, body: body)
        away.fault = (.unavailable, store)
        var damaged = step(500, method, path, target, body: body)
        damaged.fault = (.corrupted, store)
        let question = target.contains("?") ? "&" : "?"
        return (method == "GET" ? [] : [viewer])
            + [stranger, away, damaged, step(400, method, path, "\(target)\(question)unheard=1", body: body)]
    }

    private static func probes(_ status: Int) -> [Step] {
        ["/livez", "/readyz", "/startupz", "/activez"].flatMap { path in
            [step(status, "GET", path), step(status, "GET", path, "\(path)?verbose")]
        }
    }

    private static let descriptions = ["/metrics", "/openapi.yaml", "/payments.yaml"].map { step(200, "GET", $0) }

    private static func payments(_ paths: Paths) -> [Step] {
        let one = "/v1/payments/\(paths.payment)"
        return usual("GET", "/v1/payments", "/v1/payments", .payments)
            + usual("GET", "/v1/payments/{id}", one, .payment).filter { $0.status != 400 }
            + usual("GET", "/v1/payments/{id}/events", "\(one)/events", .auditTrail)
            + usual("GET", "/v1/payments/{id}/explanation", "\(one)/explanation", .payment)
            .filter { $0.status != 400 } + [
                step(200, "GET", "/v1/payments"), step(200, "GET", "/v1/payments/{id}", one),
                step(400, "GET", "/v1/payments/{id}", "/v1/payments/x"),
                step(404, "GET", "/v1/payments/{id}", "/v1/payments/pay_\(unknown)"),
                step(200, "GET", "/v1/payments/{id}/events", "\(one)/events"),
                step(404, "GET", "/v1/payments/{id}/events", "/v1/payments/pay_\(unknown)/events"),
                step(200, "GET", "/v1/payments/{id}/explanation", "\(one)/explanation"),
                step(400, "GET", "/v1/payments/{id}/explanation", "/v1/payments/x/explanation"),
                step(404, "GET", "/v1/payments/{id}/explanation", "/v1/payments/pay_\(unknown)/explanation"),
            ]
    }

    private static func runs(_ book: OperationsBook, _ paths: Paths) throws -> [Step] {
        let (all, one) = ("/v1/reconciliations", "/v1/reconciliations/{id}")
        let target = "\(all)/\(paths.run)"
        let wish = book.wish(try book.day(1))
        let planned = book.run(try book.day(1), kind: .asked).id
        return usual("GET", all, all, .runs) + usual("POST", all, all, body: wish, .beginRun)
            + refused(all, all)
            + usual("GET", one, target, .run)
            + usual("GET", "\(one)/findings", "\(target)/findings", .findings)
            + usual("POST", "\(one)/abandon", "\(target)/abandon", .abandonRun) + [
                step(200, "GET", all), step(202, "POST", all, body: wish),
                step(422, "POST", all, body: book.wish(try book.day(1), provider: "unheard")),
                step(200, "GET", one, target), step(200, "GET", one, "\(all)/\(planned)"),
                step(404, "GET", one, "\(all)/cmp_\(unknown)"),
                step(200, "GET", "\(one)/findings", "\(target)/findings"),
                step(404, "GET", "\(one)/findings", "\(all)/cmp_\(unknown)/findings"),
                step(200, "POST", "\(one)/abandon", "\(all)/\(planned)/abandon"),
                step(409, "POST", "\(one)/abandon", "\(target)/abandon"),
                step(404, "POST", "\(one)/abandon", "\(all)/cmp_\(unknown)/abandon"),
            ]
    }

    private static func discrepancies(_ paths: Paths) -> [Step] {
        let (all, one) = ("/v1/discrepancies", "/v1/discrepancies/{id}")
        let target = "\(all)/\(paths.discrepancy.id)"
        return usual("GET", all, all, .discrepancies) + usual("GET", one, target, .discrepanciesByID) + [
            step(200, "GET", all), step(422, "GET", all, "\(all)?assignee=\(card)"),
            step(200, "GET", one, target), step(404, "GET", one, "\(all)/dis_\(unknown)"),
        ]
    }

    private static func changes(_ paths: Paths) -> [Step] {
        let all = "/v1/discrepancies"
        var version = paths.discrepancy.version
        let bodies = [
            ("assignment", #""assignee":"ken""#), ("comments", #""text":"Asked.""#), ("close", #""reason":"Off.""#),
        ]
        return bodies.flatMap { name, words in
            let path = "\(all)/{id}/\(name)"
            let target = "\(all)/\(paths.discrepancy.id)/\(name)"
            let body = "{\(words),\"version\":\(version)}"
            let stale = "{\(words),\"version\":\(version + 7)}"
            let steps =
                usual("POST", path, target, body: body, .changeDiscrepancy) + refused(path, target) + [
                    step(409, "POST", path, target, body: stale),
                    step(404, "POST", path, "\(all)/dis_\(unknown)/\(name)", body: body),
                    step(200, "POST", path, target, body: body),
                ]
            version += 1
            return steps
        }
    }

    private static func repairs(_ paths: Paths) -> [Step] {
        let (all, one) = ("/v1/repairs", "/v1/repairs/{id}")
        let targets = paths.repairs.map { "\(all)/\($0.id)" }
        let (approve, reject) = ("\(one)/approve", "\(one)/reject")
        let reason = #"{"reason":"I read it too."}"#
        func proposal(_ payment: Payment, _ action: String = "resume", version: Int64? = nil) -> String {
            #"{"payment_id":"\#(payment.id)","leg":0,"action":"\#(action)","version":\#(version ?? payment.version),"#
                + #""evidence":{"text":"Their mail of today."}}"#
        }
        func by(_ person: String, _ step: Step) -> Step {
            var step = step
            step.person = person
            return step
        }
        func inactive(_ step: Step) -> Step {
            var step = step
            step.fault = (.inactive, .commit)
            return step
        }
        let body = proposal(paths.waiting[2])
        let begun =
            usual("GET", all, all, .repairs) + usual("GET", one, targets[0], .repair)
            + usual("POST", all, all, body: body, .commit) + refused(all, all)
            + usual("POST", approve, "\(targets[0])/approve", body: reason, .repair)
            + refused(approve, "\(targets[0])/approve")
            + usual("POST", reject, "\(targets[1])/reject", body: reason, .repair)
            + refused(reject, "\(targets[1])/reject")
        return begun + [
            step(200, "GET", all), step(200, "GET", all, "\(all)?state=all&limit=1"),
            step(400, "GET", all, "\(all)?state=half"), step(200, "GET", one, targets[0]),
            step(400, "GET", one, "\(all)/x"), step(404, "GET", one, "\(all)/rep_\(unknown)"),
            step(400, "POST", all, body: proposal(paths.waiting[2], "refund_it")),
            step(409, "POST", all, body: proposal(paths.waiting[2], "never_charged")),
            step(409, "POST", all, body: proposal(paths.waiting[2], version: 1_000)),
            step(404, "POST", all, body: body.replacing(paths.waiting[2].id.text, with: "pay_\(unknown)")),
            inactive(step(409, "POST", all, body: body)),
            step(201, "POST", all, body: body),
            // An operator proposes; only somebody else with the role approver decides.
            step(403, "POST", approve, "\(targets[0])/approve", body: reason),
            by("ken", step(404, "POST", approve, "\(all)/rep_\(unknown)/approve", body: reason)),
            by("ken", step(200, "POST", approve, "\(targets[0])/approve", body: reason)),
            by("ken", step(409, "POST", approve, "\(targets[0])/approve", body: reason)),
            by("ken", step(404, "POST", reject, "\(all)/rep_\(unknown)/reject", body: reason)),
            by("hana", step(200, "POST", reject, "\(targets[1])/reject", body: reason)),
            by("ken", step(409, "POST", reject, "\(targets[1])/reject", body: reason)),
            step(200, "GET", all, "\(all)?state=decided"),
        ]
    }

    private static func repairsOfDiscrepancies(_ paths: Paths) -> [Step] {
        let all = "/v1/repairs"
        let found = paths.discrepancy
        func about(_ id: String, _ action: String = "write_off", more: String = "") -> String {
            #"{"discrepancy_id":"\#(id)","action":"\#(action)","version":\#(found.version)\#(more),"#
                + #""evidence":{"text":"Their mail of today."}}"#
        }
        return [
            step(409, "POST", all, body: about(found.id.text, "charged")),
            step(409, "POST", all, body: about(found.id.text, "undo")),
            step(404, "POST", all, body: about("dis_\(unknown)")),
            step(400, "POST", all, body: about("dis_1")),
            step(400, "POST", all, body: about(found.id.text, more: #","leg":0"#)),
            step(201, "POST", all, body: about(found.id.text)),
            step(409, "POST", all, body: about(found.id.text)),
            step(200, "GET", all, "\(all)?discrepancy=\(found.id)"),
            step(400, "GET", all, "\(all)?discrepancy=\(found.id)&payment=\(paths.payment)"),
            step(400, "GET", all, "\(all)?discrepancy=dis_1"),
        ]
    }

    private static let site: [Step] = {
        let (one, promote, drain) = ("/v1/site", "/v1/site/promote", "/v1/site/drain")
        let (demote, mode) = ("/v1/site/demote", "/v1/site/mode")
        let fenced = #"{"reason":"Standby gone.","fenced_by":"Its power is off.","expected_epoch":1,"wait_seconds":0}"#
        let settling = #"{"mode":"settle-only"}"#
        let shared = [drain, demote].flatMap { path in
            var refused = step(409, "POST", path)
            refused.fault = (.incompatible, .changeSite)
            return usual("POST", path, path, .siteReading) + [refused]
        }
        let begun =
            usual("GET", one, one, .siteReading) + usual("GET", "\(one)/obstacles", "\(one)/obstacles", .siteReading)
            + usual("POST", promote, promote, body: fenced, .siteReading)
            + usual("POST", mode, mode, body: settling, .siteReading) + refused(promote, promote) + refused(mode, mode)
        return begun + shared + [
            step(200, "GET", one), step(200, "GET", "\(one)/obstacles"), step(202, "POST", drain),
            step(409, "POST", promote, body: #"{"reason":"No."}"#),
            step(409, "POST", promote, body: fenced.replacing("1,", with: "9,")),
            step(200, "POST", promote, body: fenced), step(200, "POST", mode, body: settling),
            step(400, "POST", mode, body: #"{"mode":"half"}"#), step(200, "POST", drain),
            step(409, "POST", mode, body: settling), step(200, "POST", demote), step(200, "GET", one),
        ]
    }()

    /// Bodies that no operation takes.
    static func refused(_ path: String, _ target: String) -> [Step] {
        var text = step(415, "POST", path, target, body: "{}")
        text.contentType = "text/plain"
        return [
            text, step(413, "POST", path, target, body: large),
            step(422, "POST", path, target, body: #"{"a":"\#(card)"}"#),
        ]
    }
}
