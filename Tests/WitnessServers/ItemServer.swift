internal import Foundation
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Synchronization

/// What DynamoDB does with one item: it reads it, and puts it on a condition. Written from its API reference; it checks
/// no signature.
public final class ItemServer: Sendable {
    /// The item's attributes, each with its type and its value; `nil` where there is none.
    public typealias Item = [String: [String: String]]

    private struct State: Sendable {
        var item: Item?
        var problem: String?
        var targets: [String] = []
        var isConsistent = true
    }

    private let state = Mutex(State())
    private let silence = Silence()

    /// What is there.
    public var item: Item? {
        get { state.withLock { $0.item } }
        set { state.withLock { $0.item = newValue } }
    }

    /// Whether every read asked for all that was written before.
    public var wasReadConsistently: Bool { state.withLock { $0.isConsistent } }

    /// It is reached, and answers nothing.
    public func keepSilent(_ isSilent: Bool) { silence.keep(isSilent) }

    /// It answers with this problem, whatever is asked.
    public func refuse(with problem: String?) { state.withLock { $0.problem = problem } }

    /// Runs for as long as the body does, on a port of its own.
    public static func run(_ body: @Sendable (ItemServer, _ url: String) async throws -> Void) async throws {
        let server = ItemServer()
        let router = Router()
        router.post("/") { request, _ in
            let buffer = try await request.body.collect(upTo: 1 << 16)
            await server.silence.end()
            return try server.answer(request, Data(buffer.readableBytesView))
        }
        try await WitnessPort.run(router) { try await body(server, $0) }
    }

    private func answer(_ request: Request, _ body: Data) throws -> Response {
        if let problem = state.withLock({ $0.problem }) { return try ItemServer.problem(problem) }
        guard request.headers[.authorization]?.hasPrefix("AWS4-HMAC-SHA256 Credential=") == true else {
            return try ItemServer.problem("MissingAuthenticationTokenException")
        }
        guard let name = HTTPField.Name("X-Amz-Target"), let target = request.headers[name],
            let question = try JSONSerialization.jsonObject(with: body) as? [String: Any]
        else { return try ItemServer.problem("SerializationException") }
        switch target {
        case "DynamoDB_20120810.GetItem": return try read(question)
        case "DynamoDB_20120810.PutItem": return try put(question)
        default: return try ItemServer.problem("UnknownOperationException")
        }
    }

    private func read(_ question: [String: Any]) throws -> Response {
        try state.withLock { state in
            if question["ConsistentRead"] as? Bool != true { state.isConsistent = false }
            return try ItemServer.json(.ok, state.item.map { ["Item": $0] } ?? [:])
        }
    }

    private func put(_ question: [String: Any]) throws -> Response {
        guard let item = question["Item"] as? Item, let condition = question["ConditionExpression"] as? String else {
            return try ItemServer.problem("ValidationException")
        }
        let values = question["ExpressionAttributeValues"] as? Item
        return try state.withLock { state in
            let isMet =
                switch condition {
                case "attribute_not_exists(#revision)": state.item == nil
                case "#revision = :known": state.item?["revision"] == values?[":known"] && state.item != nil
                default: false
                }
            guard isMet else { return try ItemServer.problem("ConditionalCheckFailedException") }
            state.item = item
            return try ItemServer.json(.ok, [:])
        }
    }

    private static func problem(_ name: String) throws -> Response {
        try json(.badRequest, ["__type": "com.amazonaws.dynamodb.v20120810#\(name)", "message": ""])
    }

    private static func json(_ status: HTTPResponse.Status, _ object: [String: Any]) throws -> Response {
        let bytes = try JSONSerialization.data(withJSONObject: object)
        return Response(
            status: status, headers: [.contentType: "application/x-amz-json-1.0"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }
}
