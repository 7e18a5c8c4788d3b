import LogCapture
import Logging
import PaymentCore
import Reconciler
import Testing

@testable import PaymentAPI

/// What a token permits, on every route.
@Suite struct ScopeTests {
    /// What each request of a caller needs, written down once more.
    static let needed: [String: Set<CallerScope>] = [
        "POST /v1/payments": [.create],
        "GET /v1/payments": [.read],
        "GET /v1/payments/{id}": [.read],
        "GET /v1/payments/{id}/events": [.read], "GET /v1/payments/{id}/webhook": [.read],
        "POST /v1/payments/{id}/capture": [.capture],
        "POST /v1/payments/{id}/cancel": [.create, .capture],
        "POST /v1/payments/{id}/refunds": [.refund],
        "POST /v1/payments/{id}/reconcile": [.create, .capture, .refund],
    ]

    @Test func `each route of callers needs a scope`() {
        let requests = Route.allCases.flatMap { route in route.methods.map { (route, $0) } }
        let scopes = requests.compactMap { route, method in
            route.scopes(method).map { ("\(method) \(route.rawValue)", $0) }
        }
        #expect(Dictionary(uniqueKeysWithValues: scopes) == ScopeTests.needed)
        let open = requests.filter { $0.0.scopes($0.1) == nil }.map(\.0)
        #expect(open == [.notifications, .site, .description])
    }

    @Test(arguments: CallerScope.allCases)
    func `a token of one scope does what the scope permits, and nothing else`(scope: CallerScope) async throws {
        try await RunningAPI.run { api in
            let id = try SamplePayment().payment.id.text
            for (request, needed) in ScopeTests.needed {
                let parts = request.split(separator: " ").map(String.init)
                let path = parts[1].replacing("{id}", with: id)
                let body = parts[1] == "/v1/payments" && parts[0] == "POST" ? RunningAPI.twoLegs : nil
                let calls = api.operations.calls.count
                let answer = try await api.send(parts[0], path, body: body, token: RunningAPI.token(for: scope))
                if needed.contains(scope) {
                    #expect(answer.status != 403 && answer.status != 401, "\(request)")
                    continue
                }
                #expect(answer.status == 403, "\(request)")
                #expect(try answer.string("type") == "/problems/forbidden")
                let words = needed.map(\.rawValue).sorted().joined(separator: ", ")
                #expect(
                    try answer.string("detail")
                        == "The token needs one of these scopes: \(words). It has: \(scope.rawValue).")
                #expect(api.operations.calls.count == calls, "\(request) was not to be asked")
            }
        }
    }

    @Test func `whose token it is does not change whose payment it is, and the log names the token`() async throws {
        let lines = LogLines()
        try await RunningAPI.run(logger: Logger(label: "test") { _ in lines.handler }) { api in
            _ = try await api.get("/v1/payments", token: RunningAPI.token(for: .read))
            #expect(api.operations.queries.map { $0.caller?.name } == ["shop"])
        }
        let line = try #require(lines.all.first { $0.contains("/v1/payments") })
        #expect(line.contains("token") && line.contains("read"), "\(line)")
        #expect(!line.contains(RunningAPI.token(for: .read)), "\(line)")
    }
}
