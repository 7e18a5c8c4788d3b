import Foundation
import HTTPTransport
import Synchronization

/// The way to a sandbox, which does wrong what any network and any gateway may do wrong.
///
/// The sandbox itself is not told anything. So nothing here waits, and what is late comes after the next request.
final class SandboxPath: HTTPSender {
    private struct State: Sendable {
        var ordered: [SuiteOperation: SuiteFault] = [:]
        /// Lost, and not yet arrived.
        var late: [HTTPRequest] = []
    }

    private let state = Mutex(State())
    /// Which kind of change a request is, by its label.
    private let operations: [String: SuiteOperation]
    /// The provider's own body of a refusal for a while, such as 429.
    private let words: @Sendable (_ status: Int) -> String
    private let sandbox: any HTTPSender

    init(
        _ operations: [String: SuiteOperation], words: @escaping @Sendable (_ status: Int) -> String,
        to sandbox: any HTTPSender
    ) {
        self.operations = operations
        self.words = words
        self.sandbox = sandbox
    }

    /// The next request of this kind suffers this.
    func suffer(_ fault: SuiteFault, on operation: SuiteOperation) {
        state.withLock { $0.ordered[operation] = fault }
    }

    /// Faults that were ordered, and that no request has suffered.
    var unplayed: [SuiteFault] { state.withLock { Array($0.ordered.values) } }

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        let (fault, late) = state.withLock { state in
            defer { state.late = [] }
            return (operations[request.label].flatMap { state.ordered.removeValue(forKey: $0) }, state.late)
        }
        let answer: Result<HTTPResponse, TransportFailure>
        do {
            answer = .success(try await play(fault, request))
        } catch {
            answer = .failure(error)
        }
        // What was late arrives once this request has been answered.
        for request in late { _ = try await sandbox.send(request) }
        return try answer.get()
    }

    private func play(
        _ fault: SuiteFault?, _ request: HTTPRequest
    ) async throws(TransportFailure) -> HTTPResponse {
        switch fault {
        case nil: return try await execute(request)
        case .requestLost: throw Self.lost(request, .sent)
        case .answerLost:
            _ = try await execute(request)
            throw Self.lost(request, .sent)
        case .slow:
            _ = try await execute(request)
            throw TransportFailure(code: .firstByteTimeout, phase: .sent, bytesWritten: request.body.count + 1)
        case .failsBefore: return Self.gateway(500)
        case .failsAfter:
            _ = try await execute(request)
            return Self.gateway(500)
        case .page:
            _ = try await execute(request)
            return Self.gateway(200)
        case .cutOff:
            _ = try await execute(request)
            throw Self.lost(request, .receiving)
        case .statusMissing: return Self.withoutStatus(try await execute(request))
        case .throttled: return refusal(429)
        case .unavailable: return refusal(503)
        case .twice:
            let first = try await execute(request)
            _ = try await execute(request)
            return first
        case .late:
            state.withLock { $0.late.append(request) }
            throw Self.lost(request, .sent)
        case .pending, .otherAmount, .staleReads:
            throw TransportFailure(code: .invalidRequest, phase: .waiting, detail: "no sandbox can be told this")
        }
    }

    /// The sandbox gets the time that it needs, whatever the sender of the request has.
    private func execute(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        var patient = request
        patient.limits = TimeLimits(firstByte: .seconds(30), total: .seconds(60))
        return try await sandbox.send(patient)
    }

    private static func lost(_ request: HTTPRequest, _ phase: Phase) -> TransportFailure {
        TransportFailure(code: .connectionReset, phase: phase, bytesWritten: request.body.count + 1)
    }

    /// What a gateway says in place of the provider.
    private static func gateway(_ status: Int) -> HTTPResponse {
        HTTPResponse(
            status: status, fields: HTTPFields([("Content-Type", "text/html")]),
            body: Array("<html><body><h1>Gateway</h1></body></html>".utf8), bytesWritten: 1)
    }

    /// What the provider says where it executes nothing for a while.
    private func refusal(_ status: Int) -> HTTPResponse {
        let body = words(status)
        let type = body.contains("/problems/") ? "application/problem+json" : "application/json"
        return HTTPResponse(
            status: status, fields: HTTPFields([("Content-Type", type), ("Retry-After", "1")]), body: Array(body.utf8),
            bytesWritten: 1)
    }

    /// An answer from which every `status` is gone.
    private static func withoutStatus(_ answer: HTTPResponse) -> HTTPResponse {
        var answer = answer
        do {
            let object = try JSONSerialization.jsonObject(with: Data(answer.body))
            answer.body = Array(try JSONSerialization.data(withJSONObject: withoutStatus(in: object)))
        } catch {
            answer.body = []
        }
        return answer
    }

    private static func withoutStatus(in value: Any) -> Any {
        switch value {
        case let object as [String: Any]: object.filter { $0.key != "status" }.mapValues(withoutStatus(in:))
        case let list as [Any]: list.map(withoutStatus(in:))
        default: value
        }
    }
}
