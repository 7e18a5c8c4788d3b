internal import Foundation
public import HTTPTransport
public import PaymentCore
public import Reconciler

/// An item of a DynamoDB table in a third region.
///
/// It is read consistently, and written on the condition that its revision is the one that was read. The table has the
/// partition key `id`, of type string, and one replica: the copies of a global table would each give the right away.
///
/// Source: Amazon DynamoDB API Reference, GetItem and PutItem.
public struct DynamoDBItem: WitnessItem {
    /// Which item it is, and how it is reached.
    public struct Place: Sendable, Hashable {
        /// The region.
        public var region: String
        /// The table.
        public var table: String
        /// The item's `id`.
        public var item: String
        /// Another address than the region's own, such as that of an endpoint in a private network.
        public var url: String?

        /// A place.
        public init(region: String, table: String, item: String, url: String? = nil) {
            self.region = region
            self.table = table
            self.item = item
            self.url = url
        }
    }

    /// A value with its type.
    private struct Word: Codable, Sendable {
        var text: String?
        var number: String?

        enum CodingKeys: String, CodingKey {
            case text = "S"
            case number = "N"
        }
    }

    private struct Question: Encodable {
        let table: String
        let key: [String: Word]
        let isConsistent = true

        enum CodingKeys: String, CodingKey {
            case table = "TableName"
            case key = "Key"
            case isConsistent = "ConsistentRead"
        }
    }

    private struct Answer: Decodable {
        let item: [String: Word]?

        enum CodingKeys: String, CodingKey { case item = "Item" }
    }

    private struct Change: Encodable {
        let table: String
        let item: [String: Word]
        let condition: String
        let names: [String: String]
        let values: [String: Word]?

        enum CodingKeys: String, CodingKey {
            case table = "TableName"
            case item = "Item"
            case condition = "ConditionExpression"
            case names = "ExpressionAttributeNames"
            case values = "ExpressionAttributeValues"
        }
    }

    private struct Problem: Decodable {
        let type: String?

        /// The last part of its name.
        var name: String { type?.split(separator: "#").last.map(String.init) ?? "" }

        enum CodingKeys: String, CodingKey { case type = "__type" }
    }

    private let place: Place
    private let sender: any HTTPSender
    private let credentials: AWSCredentialSource
    private let now: @Sendable () -> Timestamp

    /// An item.
    ///
    /// - Parameters:
    ///   - environment: Where the credentials come from.
    ///   - now: This machine's time: a request is signed for a moment.
    public init(
        _ place: Place, environment: [String: String], sender: any HTTPSender, now: @escaping @Sendable () -> Timestamp
    ) {
        self.place = place
        self.sender = sender
        self.now = now
        credentials = AWSCredentialSource(environment, region: place.region, sender: sender, now: now)
    }

    /// What is there, with all that was written before.
    public func read(by deadline: ContinuousClock.Instant) async throws(StoreFailure) -> WitnessReading {
        let question = Question(table: place.table, key: ["id": Word(text: place.item)])
        let response = try await send("GetItem", question, by: deadline)
        guard response.status == 200 else { throw refusal(response, mayBeDone: false) }
        let item = try response.decoded(Answer.self).item
        return WitnessReading(
            model: try WitnessModel(text: item?["document"]?.text), revision: item?["revision"]?.number,
            time: try response.time())
    }

    /// Puts a document in the place of what was read.
    public func replace(
        _ reading: WitnessReading, with model: WitnessModel, by deadline: ContinuousClock.Instant
    ) async throws(StoreFailure) -> Bool {
        let next = (reading.revision.flatMap { Int64($0) } ?? 0) + 1
        let change = Change(
            table: place.table,
            item: [
                "id": Word(text: place.item), "document": Word(text: try model.text()),
                "revision": Word(number: String(next)),
            ],
            condition: reading.revision == nil ? "attribute_not_exists(#revision)" : "#revision = :known",
            names: ["#revision": "revision"], values: reading.revision.map { [":known": Word(number: $0)] })
        let response = try await send("PutItem", change, by: deadline)
        if response.status == 200 { return true }
        let isLate = response.status == 400 && problem(response) == "ConditionalCheckFailedException"
        guard isLate else { throw refusal(response, mayBeDone: true) }
        return false
    }

    private func send(
        _ operation: String, _ body: some Encodable, by deadline: ContinuousClock.Instant
    ) async throws(StoreFailure) -> HTTPResponse {
        let url = place.url ?? "https://dynamodb.\(place.region).amazonaws.com"
        guard let parts = URLComponents(string: url), let name = parts.host else {
            throw StoreFailure(.other, operation: "witness", cause: "its address has no host")
        }
        let isUsual = parts.port == nil || parts.port == (parts.scheme == "https" ? 443 : 80)
        let host = isUsual ? name : "\(name):\(parts.port ?? 0)"
        var request = HTTPRequest(
            method: .post, url: url + "/",
            fields: HTTPFields([
                ("Content-Type", "application/x-amz-json-1.0"), ("X-Amz-Target", "DynamoDB_20120810.\(operation)"),
            ]), label: "witness")
        do {
            request.body = Array(try JSONEncoder().encode(body))
        } catch {
            throw StoreFailure(.other, operation: "witness", cause: "what is to be kept there cannot be written")
        }
        let signature = AWSSignature(
            credentials: try await credentials.credentials(by: deadline), region: place.region, service: "dynamodb")
        signature.sign(&request, host: host, at: now())
        return try await sender.ask(request, by: deadline)
    }

    private func problem(_ response: HTTPResponse) -> String {
        do {
            return try response.decoded(Problem.self).name
        } catch {
            return ""
        }
    }

    private func refusal(_ response: HTTPResponse, mayBeDone: Bool) -> StoreFailure {
        let name = problem(response)
        let passing = ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
        let cause =
            switch name {
            case "ResourceNotFoundException": "there is no table \(place.table) in \(place.region)"
            case "AccessDeniedException": "the role may not get and put the item \(place.item) of \(place.table)"
            default: "it answers \(response.status) \(name)"
            }
        return response.failure(cause, isPassing: passing.contains(name), mayBeDone: mayBeDone)
    }
}
