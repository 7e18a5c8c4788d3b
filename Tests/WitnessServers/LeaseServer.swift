internal import Foundation
internal import Hummingbird
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
        var status: HTTPResponse.Status?
        var refusesOnlyPatches = false
    }

    private static let path = "/apis/coordination.k8s.io/v1/namespaces/payments/leases/reconciled"
    /// The token that it knows.
    public static let token = "a-token"

    private let state = Mutex(State())
    private let silence = Silence()

    /// What is there; `nil` where somebody deleted it.
    public var lease: Lease? {
        get { state.withLock { $0.lease } }
        set { state.withLock { $0.lease = newValue } }
    }

    /// It is reached, and answers nothing.
    public func keepSilent(_ isSilent: Bool) { silence.keep(isSilent) }

    /// It answers so, whatever is asked, or whatever is to be changed.
    public func refuse(with status: Int?, onlyPatches: Bool = false) {
        state.withLock { state in
            state.status = status.map { .init(code: $0) }
            state.refusesOnlyPatches = onlyPatches
        }
    }

    /// Runs for as long as the body does, on a port of its own.
    public static func run(_ body: @Sendable (LeaseServer, _ url: String) async throws -> Void) async throws {
        let server = LeaseServer()
        let router = Router()
        router.get("\(path)") { request, _ in try await server.answer(request, patch: nil) }
        router.patch("\(path)") { request, _ in
            let buffer = try await request.body.collect(upTo: 1 << 16)
            return try await server.answer(request, patch: Data(buffer.readableBytesView))
        }
        try await WitnessPort.run(router) { try await body(server, $0) }
    }

    private func answer(_ request: Request, patch: Data?) async throws -> Response {
        await silence.end()
        let refused = state.withLock { $0.refusesOnlyPatches && patch == nil ? nil : $0.status }
        if let status = refused { return try LeaseServer.json(status, ["kind": "Status"]) }
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
