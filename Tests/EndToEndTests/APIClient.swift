import Foundation
import HTTPTransport

/// A caller of the daemon.
struct APIClient: Sendable {
    struct Answer: Sendable {
        let status: Int
        let fields: HTTPFields
        let body: [UInt8]

        var text: String { String(decoding: body, as: UTF8.self) }
        var json: [String: Any] {
            (try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any]) ?? [:]
        }
        var state: String? { json["state"] as? String }
        var id: String { json["id"] as? String ?? "" }
    }

    /// One sender for all tests: the daemon's own transport, as its caller.
    private static let plain = CurlSender(
        configuration: CurlConfiguration(maximumConnections: 64, allowPlainHTTP: true))

    /// What carries its requests.
    var sender = APIClient.plain
    /// What its addresses begin with.
    var scheme = "http"
    let port: Int
    let adminPort: Int
    var token: String? = World.callerToken

    func send(
        _ method: HTTPMethod, _ path: String, body: String? = nil, key: String? = nil, wait: Int? = nil,
        admin: Bool = false, headers: [(String, String)] = []
    ) async throws -> Answer {
        var fields = headers
        if let token { fields.append(("Authorization", "Bearer \(token)")) }
        if let key { fields.append(("Idempotency-Key", key)) }
        if let wait { fields.append(("Prefer", "wait=\(wait)")) }
        if body != nil { fields.append(("Content-Type", "application/json")) }
        let request = HTTPRequest(
            method: method, url: "\(scheme)://127.0.0.1:\(admin ? adminPort : port)\(path)", fields: HTTPFields(fields),
            body: Array((body ?? "").utf8),
            limits: TimeLimits(
                connect: .seconds(2), tls: .seconds(2), firstByte: .seconds(40), total: .seconds(45)),
            label: "test")
        let response = try await sender.send(request)
        if !admin { PaymentsDescription.hold(response, to: method, path) }
        return Answer(status: response.status, fields: response.fields, body: response.body)
    }

    /// Sends it again under its key while it is answered that this may help, as callers do: where processors are
    /// short, a commit may take longer than it is waited for.
    func operate(_ path: String, body: String? = nil, key: String, wait: Int) async throws -> Answer {
        var answer = try await send(.post, path, body: body, key: key, wait: wait)
        try await Polling.until("\(path) is answered") {
            guard answer.status >= 500, answer.json["retryable"] as? Bool == true else { return true }
            answer = try await send(.post, path, body: body, key: key, wait: wait)
            return false
        }
        return answer
    }

    func create(_ body: String, key: String, wait: Int = 15) async throws -> Answer {
        try await send(.post, "/v1/payments", body: body, key: key, wait: wait)
    }

    /// The value of a metric by its name and labels; -1 if there is none.
    func metric(_ name: String) async throws -> Double {
        let lines = try await send(.get, "/metrics", admin: true).text.split(separator: "\n")
        return lines.first { $0.hasPrefix("\(name) ") }?.split(separator: " ").last.flatMap { Double($0) } ?? -1
    }

    /// Waits until an inquiry about a payment is in its trail.
    func untilInquired(_ id: String) async throws {
        try await Polling.until("payment \(id) was asked about") {
            try await send(.get, "/v1/payments/\(id)/events?limit=200").text.contains("\"type\":\"inquiry\"")
        }
    }

    /// Waits until a payment is final, authorized or quarantined.
    func settled(_ id: String, within limit: Duration = .seconds(20)) async throws -> Answer {
        var last: Answer?
        try await Polling.until("payment \(id) is settled", within: limit) {
            let answer = try await send(.get, "/v1/payments/\(id)")
            last = answer
            return ["succeeded", "failed", "canceled", "authorized", "quarantined"].contains(answer.state ?? "")
        }
        guard let last else { throw Polling.Expired(what: "an answer") }
        return last
    }
}

/// Bodies of requests.
enum Bodies {
    static func payment(
        _ legs: [(provider: String, value: Int)], instruments: [String]? = nil, capture: String = "automatic",
        deadline: String? = nil, returnURL: String? = nil
    ) -> String {
        let total = legs.map(\.value).reduce(0, +)
        let parts = legs.enumerated().map { index, leg in
            let instrument = instruments?[index] ?? "tok_\(leg.provider)_123456"
            return """
                {"provider":"\(leg.provider)","instrument":"\(instrument)",\
                "amount":{"value":\(leg.value),"currency":"JPY"}}
                """
        }
        let end =
            (deadline.map { ",\"deadline\":\"\($0)\"" } ?? "")
            + (returnURL.map { ",\"return_url\":\"\($0)\"" } ?? "")
        return """
            {"amount":{"value":\(total),"currency":"JPY"},"legs":[\(parts.joined(separator: ","))],\
            "capture":"\(capture)"\(end)}
            """
    }

    static func card(_ value: Int = 1200, instrument: String = "tok_card_123456") -> String {
        payment([("card", value)], instruments: [instrument])
    }
}
