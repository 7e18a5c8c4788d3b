/// A sender that answers from a script and remembers what it was asked.
///
/// It stands in for the wire in tests.
public final class ScriptedSender: HTTPSender {
    /// What to do with a request.
    public typealias Step = @Sendable (HTTPRequest) async throws(TransportFailure) -> HTTPResponse

    private struct State: Sendable {
        var steps: [Step]
        var requests: [HTTPRequest] = []
    }

    private let state: Guarded<State>
    private let otherwise: Step

    /// - Parameters:
    ///   - steps: one for each request, in order.
    ///   - otherwise: for every request after them; by default it fails as not allowed.
    public init(
        _ steps: [Step] = [],
        otherwise: @escaping Step = { _ throws(TransportFailure) in
            throw TransportFailure(code: .invalidRequest, phase: .waiting, detail: "the script has ended")
        }
    ) {
        state = Guarded(State(steps: steps))
        self.otherwise = otherwise
    }

    /// Every request so far, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// A step that answers with a status and a body.
    public static func answer(
        _ status: Int, fields: HTTPFields = HTTPFields(), body: String = ""
    ) -> Step {
        { request throws(TransportFailure) in
            HTTPResponse(
                status: status, fields: fields, body: Array(body.utf8), bytesWritten: request.body.count + 1)
        }
    }

    /// A step that fails.
    public static func fail(_ code: TransportFailure.Code, _ phase: Phase, bytesWritten: Int = 0) -> Step {
        { _ throws(TransportFailure) in
            throw TransportFailure(code: code, phase: phase, bytesWritten: bytesWritten)
        }
    }

    /// Takes the next step of the script.
    ///
    /// - Throws: what the step throws.
    public func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        let step = state.withLock { state in
            state.requests.append(request)
            return state.steps.isEmpty ? otherwise : state.steps.removeFirst()
        }
        return try await step(request)
    }
}
