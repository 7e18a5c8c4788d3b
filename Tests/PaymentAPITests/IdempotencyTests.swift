import Foundation
import PaymentCore
import Reconciler
import StrictJSON
import Testing

@testable import PaymentAPI

struct IdempotencyTests {
    @Test func `a settled create is answered as it was kept, with its location`() async throws {
        try await RunningAPI.run { api in
            var sample = try SamplePayment()
            sample.run()
            let payment = sample.payment
            #expect(payment.state == .succeeded)
            api.operations.set { $0.result = .success(.settled(payment)) }
            let answer = try await api.create()
            #expect(answer.status == 201)
            #expect(answer.headers["content-type"] == "application/json")
            #expect(answer.headers["location"] == "/v1/payments/\(payment.id.text)")
            #expect(answer.headers["idempotent-replayed"] == nil)
            #expect(answer.headers["cache-control"] == "no-store")
            #expect(answer.headers["x-content-type-options"] == "nosniff")
            #expect(answer.body == PaymentRendering.payment(payment).bytes)
            let kept = try #require(api.operations.kept.first)
            #expect(kept.status == 201 && kept.body == answer.body)
            #expect(kept.location == answer.headers["location"])
        }
    }

    @Test func `a replay gives the kept answer byte for byte and says so`() async throws {
        try await RunningAPI.run { api in
            let kept = StoredAnswer(
                status: 201, contentType: "application/json", location: "/v1/payments/pay_x",
                body: Array("{\"odd\" : [1,\n2]}".utf8))
            api.operations.set { $0.result = .success(.replay(kept)) }
            for _ in 0..<2 {
                let answer = try await api.create()
                #expect(answer.status == 201)
                #expect(answer.body == kept.body)
                #expect(answer.headers["location"] == kept.location)
                #expect(answer.headers["content-type"] == kept.contentType)
                #expect(answer.headers["idempotent-replayed"] == "true")
            }
            #expect(api.operations.kept.isEmpty)
        }
    }

    @Test func `if another request was first, its answer counts`() async throws {
        try await RunningAPI.run { api in
            var sample = try SamplePayment()
            sample.run()
            let payment = sample.payment
            let first = StoredAnswer(
                status: 201, contentType: "application/json", location: "/first", body: Array("{}".utf8))
            api.operations.set {
                $0.result = .success(.settled(payment))
                $0.keptBefore = first
            }
            let answer = try await api.create()
            #expect(answer.body == first.body)
            #expect(answer.headers["location"] == "/first")
            #expect(answer.headers["idempotent-replayed"] == "true")
        }
    }

    @Test func `an answer that cannot be kept is not given`() async throws {
        try await RunningAPI.run { api in
            var sample = try SamplePayment()
            sample.run()
            let payment = sample.payment
            api.operations.set {
                $0.result = .success(.settled(payment))
                $0.keepFailure = .store(StoreFailure(.busy, operation: "storeAnswer", cause: "locked"))
            }
            let answer = try await api.create()
            #expect(answer.status == 503)
            #expect(try answer.string("type") == "/problems/not-accepting")
            #expect(try answer.json["retryable"] as? Bool == true)
            #expect(!answer.text.contains("locked"))
        }
    }

    @Test func `what goes on is 202 with location, retry-after and the payment as it is`() async throws {
        try await RunningAPI.run { api in
            var sample = try SamplePayment(legs: 1)
            sample.run(cards: .loses)
            let payment = sample.payment
            api.operations.set { $0.result = .success(.unsettled(payment)) }
            let answer = try await api.create(headers: [("Prefer", "respond-async, wait=2")])
            #expect(answer.status == 202)
            #expect(answer.headers["location"] == "/v1/payments/\(payment.id.text)")
            // The first whole second after the payment is due, at most a minute.
            let seconds = try #require(Int64(answer.headers["retry-after"] ?? ""))
            let left = (try #require(payment.dueAt) - SamplePayment.now).milliseconds
            let known = min(max(left, 0), 59_999)
            #expect((seconds - 1) * 1_000 <= known && known < seconds * 1_000, "\(seconds) s for \(left) ms")
            #expect(answer.headers["preference-applied"] == "wait=2")
            #expect(try answer.string("state") == "processing")
            #expect(api.operations.kept.isEmpty)
        }
    }

    @Test func `what is being confirmed after lost rows is asked again, and is not kept`() async throws {
        try await RunningAPI.run { api in
            let payment = try SamplePayment().payment
            let from = Timestamp(milliseconds: 1_800_000_000_000)
            api.operations.set { $0.result = .failure(.refused(.beingConfirmed(from: from), payment.id)) }
            let answer = try await api.create()
            #expect(answer.status == 503 && answer.headers["retry-after"] != nil)
            #expect(try answer.string("type") == "/problems/being-confirmed")
            #expect(try answer.string("payment_id") == payment.id.text)
            #expect(try answer.string("detail")?.contains("2027-01-15T08:00:00") == true)
            #expect(try answer.json["retryable"] as? Bool == true)
            #expect(api.operations.kept.isEmpty)
        }
    }

    @Test func `a refund beside a dispute is refused, and its key is not spent`() async throws {
        try await RunningAPI.run { api in
            let payment = try SamplePayment().payment
            let refusal = OperationRefusal.disputed(leg: 1, dispute: "dp_7")
            api.operations.set { $0.result = .failure(.refused(refusal, payment.id)) }
            let answer = try await api.create()
            #expect(answer.status == 409)
            #expect(try answer.string("type") == "/problems/disputed")
            #expect(try answer.string("payment_id") == payment.id.text)
            #expect(try answer.string("detail")?.contains("leg 1 (dp_7)") == true)
            #expect(try answer.json["retryable"] as? Bool == false)
            #expect(api.operations.kept.isEmpty)
        }
    }

    @Test func `in flight with wait=0 is 409 with retry-after`() async throws {
        try await RunningAPI.run { api in
            let payment = try SamplePayment().payment
            api.operations.set { $0.result = .success(.inFlight(payment)) }
            let answer = try await api.create(headers: [("Prefer", "wait=0")])
            #expect(answer.status == 409)
            #expect(try answer.string("type") == "/problems/idempotency-in-flight")
            #expect(try answer.string("payment_id") == payment.id.text)
            let seconds = try #require(Int(answer.headers["retry-after"] ?? ""))
            #expect(try answer.json["retry_after"] as? Int == seconds)
        }
    }

    @Test(arguments: [
        (OperationFailure.keyReused, 422, "/problems/idempotency-key-reused", false),
        (.keySpent, 410, "/problems/idempotency-key-spent", false),
        (.notFound, 404, "/problems/not-found", false),
        (.notAccepting(reason: "Draining.", retryAfter: 5), 503, "/problems/not-accepting", true),
        (.store(StoreFailure(.full, operation: "commit", cause: "x")), 503, "/problems/not-accepting", true),
        (.store(StoreFailure(.indeterminate, operation: "w", cause: "x")), 500, "/problems/internal", true),
        (.store(StoreFailure(.corrupted, operation: "commit", cause: "x")), 500, "/problems/internal", true),
    ])
    func `a failure is its problem, and is not kept`(
        _ failure: OperationFailure, _ status: Int, _ type: String, _ isRetryable: Bool
    ) async throws {
        try await RunningAPI.run { api in
            api.operations.set { $0.result = .failure(failure) }
            let answer = try await api.create()
            #expect(answer.status == status)
            #expect(answer.headers["content-type"] == "application/problem+json")
            #expect(try answer.string("type") == type)
            #expect(try answer.json["status"] as? Int == status)
            #expect(try answer.json["retryable"] as? Bool == isRetryable)
            #expect((answer.headers["retry-after"] != nil) == (status == 503))
            #expect(api.operations.kept.isEmpty)
        }
    }

    @Test func `a site that takes no payments says which does, and when to ask again`() async throws {
        try await RunningAPI.run { api in
            let found = SiteNotActive(
                site: try SiteName("site-a"), activeSite: try SiteName("site-b"), address: "https://b.example",
                reason: "it stands by", retryAfter: 7)
            api.operations.set { $0.result = .failure(.notActive(found)) }
            let answer = try await api.create()
            #expect(answer.status == 503 && answer.headers["retry-after"] == "7")
            #expect(try answer.string("type") == "/problems/site-not-active")
            let active = try #require(try answer.json["active_site"] as? [String: Any], "\(answer)")
            #expect(active["name"] as? String == "site-b" && active["url"] as? String == "https://b.example")
        }
    }

    @Test func `a payment that was undone before its caller came is said to be, and is not kept`() async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id
            api.operations.set { $0.result = .failure(.undone(id)) }
            let answer = try await api.create()
            #expect(answer.status == 410)
            #expect(try answer.string("type") == "/problems/idempotency-key-spent")
            #expect(try answer.string("detail")?.contains("was undone") == true)
            #expect(try answer.string("payment_id") == id.text)
            #expect(api.operations.kept.isEmpty)
        }
    }

    @Test func `too late is a settled answer and is kept, a wrong state is not`() async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id
            api.operations.set { $0.result = .failure(.refused(.tooLate(state: .processing), id)) }
            let late = try await api.send("POST", "/v1/payments/\(id.text)/cancel")
            #expect(late.status == 409)
            #expect(try late.string("type") == "/problems/too-late")
            #expect(try late.string("payment_id") == id.text)
            #expect(api.operations.kept.map(\.body) == [late.body])
            #expect(api.operations.kept.map(\.contentType) == ["application/problem+json"])
            let kept = try #require(api.operations.kept.first)
            api.operations.set { $0.result = .success(.replay(kept)) }
            let replay = try await api.send("POST", "/v1/payments/\(id.text)/cancel")
            #expect(replay.body == late.body && replay.status == 409)
            #expect(replay.headers["content-type"] == "application/problem+json")
            #expect(replay.headers["idempotent-replayed"] == "true")
            api.operations.set {
                $0.result = .failure(.refused(.wrongState(.processing, allowed: "it is not held"), id))
            }
            let conflict = try await api.send("POST", "/v1/payments/\(id.text)/capture")
            #expect(conflict.status == 409)
            #expect(try conflict.string("type") == "/problems/state-conflict")
            #expect(api.operations.kept.count == 1)
        }
    }

    @Test func `a request without a key, or with a malformed one, asks for nothing`() async throws {
        try await RunningAPI.run { api in
            let missing = try await api.create(key: nil)
            #expect(missing.status == 400)
            #expect(try missing.string("type") == "/problems/idempotency-key-missing")
            #expect(try missing.string("field") == "Idempotency-Key")
            let empty = try await api.create(key: "")
            #expect(try empty.string("type") == "/problems/idempotency-key-missing")
            for key in [String(repeating: "k", count: 256), "a b", "ключ"] {
                let answer = try await api.create(key: key)
                #expect(answer.status == 400)
                #expect(try answer.string("type") == "/problems/invalid-request")
                #expect(try answer.string("field") == "Idempotency-Key")
            }
            let twice = try await api.create(headers: [("Idempotency-Key", "other")])
            #expect(twice.status == 400)
            #expect(api.operations.calls.isEmpty)
        }
    }

    @Test func `the fingerprint depends on the content and not on how it is written`() async throws {
        try await RunningAPI.run { api in
            let same = [
                #"{"reason":"a","x":1}"#.replacingOccurrences(of: #","x":1"#, with: ""),
                "{ \"re\\u0061son\" :\n\"\\u0061\" }",
            ]
            let id = try SamplePayment().payment.id.text
            for body in same { _ = try await api.send("POST", "/v1/payments/\(id)/cancel", body: body) }
            _ = try await api.send("POST", "/v1/payments/\(id)/cancel", body: #"{"reason":"b"}"#)
            _ = try await api.send("POST", "/v1/payments/\(id)/cancel")
            _ = try await api.send("POST", "/v1/payments/\(id)/cancel", body: "{}")
            let prints = api.operations.asked.compactMap { call -> Digest? in
                guard case .cancel(let command, _) = call else { return nil }
                return command.fingerprint
            }
            try #require(prints.count == 5)
            #expect(prints[0] == prints[1])
            #expect(prints[0] != prints[2])
            #expect(prints[3] == prints[4])
            #expect(
                prints[0] == Digest(of: ["POST", "/v1/payments/\(id)/cancel", #"{"reason":"a"}"#]))
        }
    }

    @Test(arguments: [
        ("wait=0", 0), ("wait=7", 7), ("wait=31", 30), ("wait=99999999999999999999", 30), ("wait=x", 5),
        ("Wait = 3", 3), ("respond-async", 5), ("wait=\"4\";foo=1", 4), ("wait=-1", 5), ("wait", 5),
    ])
    func `the wait is what Prefer asks for`(_ value: String, _ seconds: Int64) async throws {
        try await RunningAPI.run { api in
            _ = try await api.create(headers: [("Prefer", value)])
            guard case .create(_, _, let wait) = try #require(api.operations.asked.first) else {
                Issue.record("no create")
                return
            }
            #expect(wait == .seconds(seconds))
        }
    }
}
