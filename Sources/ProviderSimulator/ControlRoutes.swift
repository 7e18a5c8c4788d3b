import Foundation
import Hummingbird

/// The control API: `/_control/…`.
///
/// It is the same as `SimulatorControl`.
struct ControlRoutes: Sendable {
    let control: SimulatorControl

    /// - Parameter message: its path without `_control`.
    func respond(to message: ReceivedMessage) async -> Response {
        do {
            return try await route(message)
        } catch let problem as Problem {
            return json(problem.status, problem)
        } catch let error as SimulatorError where error.code == .unknownProvider {
            return json(404, Problem.notFound)
        } catch let error as SimulatorError where error.code == .cannotPlant {
            return json(409, Problem.conflict(error.detail))
        } catch let error as DecodingError {
            return json(400, Problem.invalidRequest(error.explanation, field: error.member))
        } catch {
            return json(500, Problem.internalError)
        }
    }

    private func route(_ message: ReceivedMessage) async throws -> Response {
        if message.method == "GET", message.path == ["health"] {
            return json(200, Health(status: "ok", providers: control.providers))
        }
        guard message.path.count == 2 else { throw Problem.notFound }
        let provider = message.path[0]
        switch (message.method, message.path[1]) {
        case ("GET", "ledger"): return try await ledger(provider, message.query)
        case ("GET", "metadata"): return json(200, ["data": try await control.metadata(at: provider)])
        case ("GET", "notifications"):
            let notices = try await control.notices(at: provider, since: try number("since", message.query) ?? 0)
            return json(200, ["data": notices])
        case ("GET", "journal"): return try await journal(provider, message.query)
        case ("GET", "faults"): return json(200, try control.faults(at: provider))
        case ("POST", "faults"): return try order(provider, message)
        case ("DELETE", "faults"):
            try control.clearOrders(at: provider)
            return json(200, try control.faults(at: provider))
        case ("PUT", "rates"):
            try control.setRates(try body([FaultRate].self, message), at: provider)
            return json(200, try control.faults(at: provider))
        case ("POST", "down"):
            let order = try body(DownOrder.self, message)
            try control.takeDown(provider, forMs: order.forMs, mode: order.mode ?? .close)
            return json(200, try control.faults(at: provider))
        case ("POST", "forget"):
            let order = try body(ForgetOrder.self, message)
            try await control.forget(order.key, at: provider)
            return json(200, try await control.ledger(provider, key: order.key))
        case ("POST", "plants"):
            return json(201, try await control.plant(try body(PlantOrder.self, message), at: provider))
        case ("GET", "plants"):
            return json(200, try await control.planted(at: provider, key: message.query["key"]))
        case ("POST", "disputes"):
            return json(201, try await control.dispute(try body(DisputeOrder.self, message), at: provider))
        case ("POST", "payer"):
            let status = try await control.payerActs(try body(PayerOrder.self, message), at: provider)
            return json(200, ["status": status])
        case ("POST", "bulk"):
            return json(201, try await control.create(try body(BulkOrder.self, message), at: provider))
        case ("POST", "clock"):
            let order = try body(ClockOrder.self, message)
            try control.setClockOffset(order.offsetMs, at: provider)
            return json(200, order)
        default:
            throw Problem.notFound
        }
    }

    private func ledger(_ provider: String, _ query: [String: String]) async throws -> Response {
        let report = try await control.ledger(
            provider, key: query["key"], summary: query["summary"] == "true")
        switch query["format"] ?? "json" {
        case "json":
            return json(200, report)
        case "text":
            return Response(
                status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: report.text)))
        default:
            throw Problem.invalidRequest("format is json or text", field: "format")
        }
    }

    private func journal(_ provider: String, _ query: [String: String]) async throws -> Response {
        var operation: Operation?
        if let name = query["operation"] {
            guard let known = Operation(rawValue: name) else {
                throw Problem.invalidRequest("No such operation", field: "operation")
            }
            operation = known
        }
        let entries = try await control.journal(
            provider, key: query["key"], operation: operation, after: try number("after", query) ?? 0,
            limit: Int(try number("limit", query) ?? 1000))
        return json(200, JournalPage(data: entries, count: entries.count))
    }

    private func number(_ name: String, _ query: [String: String]) throws(Problem) -> Int64? {
        guard let text = query[name] else { return nil }
        guard let number = Int64(text), number >= 0 else {
            throw .invalidRequest("\(name) is a whole number", field: name)
        }
        return number
    }

    /// One order, or a list of them.
    private func order(_ provider: String, _ message: ReceivedMessage) throws -> Response {
        let data = message.body ?? Data()
        let isList = data.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "[")
        let orders = isList ? try body([FaultOrder].self, message) : [try body(FaultOrder.self, message)]
        let ids = try orders.map { try control.order($0, at: provider) }
        return json(201, OrderReceipt(ids: ids))
    }

    private func body<Body: Decodable>(_ type: Body.Type, _ message: ReceivedMessage) throws -> Body {
        guard let body = message.body else { throw Problem.bodyTooLarge }
        return try JSONDecoder().decode(type, from: body)
    }

    private func json(_ status: Int, _ value: some Encodable) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            let body = ByteBuffer(bytes: try encoder.encode(value))
            return Response(
                status: .init(code: status), headers: [.contentType: "application/json"],
                body: ResponseBody(byteBuffer: body))
        } catch {
            return Response(status: .internalServerError)
        }
    }
}

private struct Health: Encodable {
    let status: String
    let providers: [String]
}

private struct JournalPage: Encodable {
    let data: [JournalEntry]
    let count: Int
}

private struct OrderReceipt: Encodable {
    let ids: [Int]
}

private struct DownOrder: Decodable {
    let forMs: Int64
    let mode: DownMode?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case forMs = "for_ms"
        case mode
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        forMs = try container.decode(Int64.self, forKey: .forMs)
        mode = try container.decodeIfPresent(DownMode.self, forKey: .mode)
    }
}

private struct ForgetOrder: Decodable {
    let key: String
}

private struct ClockOrder: Codable {
    let offsetMs: Int64

    private enum CodingKeys: String, CodingKey {
        case offsetMs = "offset_ms"
    }
}
