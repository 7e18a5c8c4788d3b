internal import HTTPTypes
public import Hummingbird
internal import Logging
internal import NIOCore
internal import Reconciler

/// Answers every request of the admin listener.
public struct AdminResponder: HTTPResponder {
    /// The connection of a request.
    public struct Context: InitializableFromSource, Sendable {
        fileprivate let channel: any Channel

        /// A context of a connection.
        public init(source: ApplicationRequestContextSource) {
            channel = source.channel
        }

        /// Ends the connection a moment from now, when the answer is out: what else comes on it is not read.
        fileprivate func closeSoon() {
            let channel = channel
            channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
        }
    }

    let probes: Probes
    let metrics: MetricsRegistry
    let operators: OperatorDirectory
    let reads: OperatorReads
    let logger: Logger

    /// Answers one request.
    public func respond(to request: Request, context: Context) async throws -> Response {
        let target = request.head.path ?? ""
        let question = target.firstIndex(of: "?") ?? target.endIndex
        let parts = target[..<question].split(separator: "/", omittingEmptySubsequences: false)
        let path = parts.map(String.init)
        let query = target[question...].dropFirst()
        let isChunked = request.headers[.transferEncoding] != nil
        if isChunked || (request.headers[.contentLength] ?? "0") != "0" { context.closeSoon() }
        do {
            return try await answer(request, Array(path.dropFirst()), query.isEmpty ? nil : String(query))
        } catch let problem as AdminProblem {
            return try render(problem.status, "application/problem+json", AdminJSON.bytes(problem))
        }
    }

    private func answer(_ request: Request, _ path: [String], _ query: String?) async throws -> Response {
        if let results = try await probe(request, path) {
            let document = ProbeDocument(results, isVerbose: Probes.isVerbose(query))
            return try render(document.httpStatus, "application/json", AdminJSON.bytes(document))
        }
        if path == ["metrics"] {
            try requireGet(request)
            return try render(200, OpenMetricsText.contentType, Array(metrics.openMetrics().utf8))
        }
        guard path.first == "v1" else { throw AdminProblem.notFound }
        let values = request.headers.filter { $0.name == .authorization }.map(\.value)
        guard let person = operators.person(authorization: values) else { throw AdminProblem.unauthorized }
        let answer = try await read(request, Array(path.dropFirst()), query)
        logger.info(
            "operator request answered",
            metadata: ["operator": .string(person), "status": .stringConvertible(answer.status)])
        return try render(answer.status, answer.contentType, answer.body)
    }

    private func probe(_ request: Request, _ path: [String]) async throws -> [NamedResult]? {
        guard path.count == 1, let name = path.first, Probes.names.contains(name) else { return nil }
        try requireGet(request)
        return await probes.results(name)
    }

    private func read(_ request: Request, _ path: [String], _ query: String?) async throws -> StoredAnswer {
        guard path.first == "payments" else { throw AdminProblem.notFound }
        let rest = Array(path.dropFirst())
        guard rest.count <= 2, !rest.contains("") else { throw AdminProblem.notFound }
        if rest.count == 2, rest.last != "events" { throw AdminProblem.notFound }
        try requireGet(request)
        guard let id = rest.first else { return await reads.list(query) }
        return rest.count == 1 ? await reads.payment(id) : await reads.events(id, query)
    }

    private func requireGet(_ request: Request) throws {
        guard request.method == .get else { throw AdminProblem.methodNotAllowed }
    }

    private func render(_ status: Int, _ contentType: String, _ body: [UInt8]) throws -> Response {
        var headers: HTTPFields = [
            .contentType: contentType, .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        if status == 401 { headers[.wwwAuthenticate] = "Bearer" }
        if status == 405 { headers[.allow] = "GET" }
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
