import Foundation
import Synchronization

@testable import ReconciledClient

/// Answers from a list, and keeps what it was sent. The last answer stays.
final class ScriptedDaemon: ClientTransport {
    enum Step {
        case answer(Int, String, [String: String])
        case lost
    }

    private struct State {
        var steps: [Step]
        var requests: [ClientRequest] = []
    }

    private let state: Mutex<State>

    init(_ steps: [Step]) { state = Mutex(State(steps: steps)) }

    var requests: [ClientRequest] { state.withLock(\.requests) }

    func send(_ request: ClientRequest) async throws -> ClientAnswer {
        try Task.checkCancellation()
        let step = state.withLock { state in
            state.requests.append(request)
            return state.steps.count > 1 ? state.steps.removeFirst() : state.steps[0]
        }
        switch step {
        case .lost: throw URLError(.networkConnectionLost)
        case .answer(let status, let body, let headers):
            return ClientAnswer(status: status, headers: headers, body: Data(body.utf8))
        }
    }
}

/// What the tests pay.
enum Sample {
    static let payment = "pay_" + String(repeating: "0a1b", count: 10)
}

extension ScriptedDaemon.Step {
    static func payment(
        _ state: String, _ status: Int = 201, amount: Int = 1_500, headers: [String: String] = [:]
    ) -> ScriptedDaemon.Step {
        .answer(
            status,
            """
            {"id": "\(Sample.payment)", "state": "\(state)", "reason": null,
             "amount": {"value": \(amount), "currency": "JPY"}, "captured": {"value": 0, "currency": "JPY"},
             "refunded": {"value": 0, "currency": "JPY"},
             "capture": "automatic", "reference": "order-731", "metadata": {}, "deadline": "2026-03-02T09:25:00Z",
             "created_at": "2026-03-02T09:10:00Z", "updated_at": "2026-03-02T09:10:00Z", "legs": [],
             "refunds": [\(refund("succeeded"))], "a_later_member": 1}
            """, headers)
    }

    static func refund(_ state: String) -> String {
        let amount = #"{"value": 500, "currency": "JPY"}"#
        return #"{"id": "ref_1", "state": "\#(state)", "amount": \#(amount), "legs": [], "reason": null}"#
    }

    static func problem(
        _ status: Int, _ type: String, retryable: Bool = false, site: String? = nil, headers: [String: String] = [:]
    ) -> ScriptedDaemon.Step {
        let active = site.map { #", "active_site": {"name": "west", "url": "\#($0)"}"# } ?? ""
        let members = #""type": "/problems/\#(type)", "title": "Title", "status": \#(status)"#
        return .answer(status, #"{\#(members), "retryable": \#(retryable)\#(active)}"#, headers)
    }
}

/// A clock on which whoever sleeps has slept at once.
final class SkippingClock: Clock {
    struct Instant: InstantProtocol {
        var passed: Duration

        func advanced(by duration: Duration) -> Instant { Instant(passed: passed + duration) }
        func duration(to other: Instant) -> Duration { other.passed - passed }
        static func < (left: Instant, right: Instant) -> Bool { left.passed < right.passed }
    }

    private let state = Mutex((now: Instant(passed: .zero), pauses: [Duration]()))

    var now: Instant { state.withLock(\.now) }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// How long was slept each time.
    var pauses: [Duration] { state.withLock(\.pauses) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.pauses.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
    }
}
