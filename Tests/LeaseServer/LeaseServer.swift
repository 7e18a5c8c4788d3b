internal import Foundation
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Synchronization

/// What a Kubernetes API server does with one Lease: it reads it, and patches it if nobody changed it since. Written
/// from the documentation of Kubernetes (API concepts, resource versions); a real one checks more.
public final class LeaseServer: Sendable {
    /// The Lease.
    public struct Lease: Sendable {
        /// Which version it is.
        public var resourceVersion: Int
        /// Its annotations.
        public var annotations: [String: String] = [:]
        /// The fields of `spec`, as text.
        public var spec: [String: String] = [:]

        /// A Lease as its manifest makes it.
        public init(resourceVersion: Int = 1) { self.resourceVersion = resourceVersion }
    }

    private struct State: Sendable {
        var lease: Lease? = Lease()
        var isSilent = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        var status: HTTPResponse.Status?
    }

    private static let path = "/apis/coordination.k8s.io/v1/namespaces/payments/leases/reconciled"
    /// The token that it knows.
    public static let token = "a-token"

    private let state = Mutex(State())

    /// What is there; `nil` where somebody deleted it.
    public var lease: Lease? {
        get { state.withLock { $0.lease } }
        set { state.withLock { $0.lease = newValue } }
    }

    /// It is reached, and answers nothing.
    public func keepSilent(_ isSilent: Bool) {
        let waiting = state.withLock { state in
            state.isSilent = isSilent
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    private func heard() async {
        await withCheckedContinuation { continuation in
            let isSilent = state.withLock { state in
                if state.isSilent { state.waiting.append(continuation) }
                return state.isSilent
            }
            if !isSilent { continuation.resume() }
        }
    }

    /// It answers so, whatever is asked.
    public func refuse(with status: Int?) { state.withLock { $0.status = status.map { .init(code: $0) } } }

    /// Runs for as long as the body does, on a port of its own.
    public static func run(_ body: @Sendable (LeaseServer, _ url: String) async throws -> Void) async throws {
        let server = LeaseServer()
        let router = Router()
        router.get("\(path)") { request, _ in try await server.answer(request, patch: nil) }
        router.patch("\(path)") { request, _ in
            let buffer = try await request.body.collect(upTo: 1 << 16)
            return try await server.answer(request, patch: Data(buffer.readableBytesView))
        }
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "lease")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        let task = Task { try await application.run() }
        defer { task.cancel() }
        var first = ports.makeAsyncIterator()
        let number = await first.next() ?? 0
        try await body(server, "http://127.0.0.1:\(number)")
    }

    private func answer(_ request: Request, patch: Data?) async throws -> Response {
        await heard()
        if let status = state.withLock({ $0.status }) { return try LeaseServer.json(status, ["kind": "Status"]) }
        guard request.headers[.authorization] == "Bearer \(LeaseServer.token)" else {
            return try LeaseServer.json(.unauthorized, ["kind": "Status"])
        }
        if let patch {
            guard request.headers[.contentType] == "application/merge-patch+json",
                let object = try JSONSerialization.jsonObject(with: patch) as? [String: Any]
            else { return try LeaseServer.json(.unsupportedMediaType, ["kind": "Status"]) }
            return try apply(object)
        }
        return try state.withLock { try LeaseServer.show($0.lease) }
    }

    private func apply(_ patch: [String: Any]) throws -> Response {
        let metadata = patch["metadata"] as? [String: Any] ?? [:]
        let annotations = metadata["annotations"] as? [String: String] ?? [:]
        let version = (metadata["resourceVersion"] as? String).flatMap(Int.init)
        let spec = (patch["spec"] as? [String: Any] ?? [:]).mapValues { "\($0)" }
        return try state.withLock { state in
            guard var lease = state.lease else { return try LeaseServer.show(nil) }
            guard version == lease.resourceVersion else { return try LeaseServer.json(.conflict, ["kind": "Status"]) }
            lease.annotations.merge(annotations) { _, new in new }
            lease.spec.merge(spec) { _, new in new }
            lease.resourceVersion += 1
            state.lease = lease
            return try LeaseServer.show(lease)
        }
    }

    private static func show(_ lease: Lease?) throws -> Response {
        guard let lease else { return try json(.notFound, ["kind": "Status"]) }
        var metadata: [String: Any] = ["resourceVersion": "\(lease.resourceVersion)"]
        if !lease.annotations.isEmpty { metadata["annotations"] = lease.annotations }
        return try json(.ok, ["kind": "Lease", "metadata": metadata])
    }

    private static func json(_ status: HTTPResponse.Status, _ object: [String: Any]) throws -> Response {
        let bytes = try JSONSerialization.data(withJSONObject: object)
        return Response(
            status: status, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
