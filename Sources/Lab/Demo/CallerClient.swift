import Foundation
import HTTPTransport
import ProgramEdge

/// The demo's caller: it repeats a request under the same key until it knows what became of it.
struct CallerClient: Sendable {
    /// What became of a request.
    enum Reply: Sendable {
        /// Settled: the payment, or the refund.
        case settled(Record)
        /// Recorded, and people must decide.
        case quarantined(id: String?)
        /// Refused, with the type of the problem.
        case refused(type: String, id: String?)
        /// Nobody knows yet; the patience is over. `last` is what came of the last try.
        case open(id: String?, last: String)

        var id: String? {
            switch self {
            case .settled(let record): record.id
            case .quarantined(let id), .open(let id, _), .refused(_, let id): id
            }
        }
    }

    /// What a payment and a refund have in common.
    struct Record: Decodable, Sendable {
        let id: String
        let state: String
    }

    let sender: any HTTPSender
    let base: String
    let token: String
    /// How long one request is repeated.
    var patience: Duration = .seconds(20)

    /// Sends a request under a key until it is settled, at most as long as the patience lasts.
    /// - Parameters:
    ///   - isInHurry: does not wait for the end, and returns as soon as the daemon has the request.
    ///   - onAcknowledged: is told the payment's id as soon as the daemon has promised to settle it.
    func ask(
        _ path: String, key: String, body: some Encodable & Sendable, isInHurry: Bool = false,
        onAcknowledged: @Sendable (String) async -> Void = { _ in }
    ) async throws -> Reply {
        let bytes = [UInt8](try DemoJSON.encode(body))
        let end = ContinuousClock.now + patience
        var id: String?
        var tries = 0
        var last = "not asked"
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            let fields = HTTPFields([
                ("Authorization", "Bearer \(token)"), ("Content-Type", "application/json"),
                ("Idempotency-Key", key), ("Prefer", "wait=\(isInHurry ? 0 : 5)"),
            ])
            tries += 1
            let answer: HTTPResponse
            do throws(TransportFailure) {
                answer = try await sender.send(request(.post, path, fields, bytes))
            } catch {
                last = error.code.rawValue
                // The daemon may be down, or may have been killed after it recorded the request: the same key
                // again.
                try await Task.sleep(for: .milliseconds(min(50 * tries, 400)))
                continue
            }
            last = "status \(answer.status)"
            let step = try read(answer)
            if let known = step.id { id = known }
            if let promised = step.acknowledged { await onAcknowledged(promised) }
            switch step.next {
            case .done(let reply): return reply
            case .again where isInHurry && id != nil: return .open(id: id, last: "\(key): \(last)")
            case .again(let pause): try await Task.sleep(for: pause)
            }
        }
        return .open(id: id, last: "\(key): \(last)")
    }

    /// Reads something; tries again while the daemon is away.
    func get<Value: Decodable>(_ path: String, as type: Value.Type) async throws -> Value? {
        let end = ContinuousClock.now + patience
        var last = "no answer"
        while ContinuousClock.now < end {
            try Task.checkCancellation()
            let fields = HTTPFields([("Authorization", "Bearer \(token)")])
            do throws(TransportFailure) {
                let answer = try await sender.send(request(.get, path, fields, []))
                if answer.status == 200 { return try decode(type, answer.body) }
                if answer.status == 404 { return nil }
                last = "status \(answer.status)"
            } catch {
                last = "\(error)"
            }
            try await Task.sleep(for: .milliseconds(100))
        }
        throw CommandFailure(.unavailable, "\(path) could not be read: \(last)")
    }

    private func decode<Value: Decodable>(
        _ type: Value.Type, _ body: [UInt8]
    ) throws(TransportFailure) -> Value {
        do {
            return try DemoJSON.decode(type, body)
        } catch {
            throw TransportFailure(code: .malformedResponse, phase: .complete, detail: "\(error)")
        }
    }

    private struct Step {
        enum Next {
            case done(Reply)
            case again(after: Duration)
        }

        var id: String?
        var acknowledged: String?
        let next: Next
    }

    private func read(_ answer: HTTPResponse) throws -> Step {
        switch answer.status {
        case 200, 201:
            let record = try DemoJSON.decode(Record.self, answer.body)
            return Step(id: record.id, acknowledged: record.id, next: .done(.settled(record)))
        case 202:
            let record = try DemoJSON.decode(Record.self, answer.body)
            let isOver = record.state == "quarantined"
            return Step(
                id: record.id, acknowledged: record.id,
                next: isOver ? .done(.quarantined(id: record.id)) : .again(after: .milliseconds(20)))
        case 429, 500...599:
            return Step(next: .again(after: pause(answer)))
        default:
            let problem = try DemoJSON.decode(ProblemBody.self, answer.body)
            if problem.type == "/problems/idempotency-in-flight" {
                return Step(
                    id: problem.paymentId, acknowledged: problem.paymentId, next: .again(after: pause(answer)))
            }
            return Step(
                id: problem.paymentId, next: .done(.refused(type: problem.type, id: problem.paymentId)))
        }
    }

    /// As the daemon asks, within what a demo can wait for.
    private func pause(_ answer: HTTPResponse) -> Duration {
        let seconds = answer.fields["Retry-After"].flatMap(Int.init) ?? 0
        return .milliseconds(min(max(seconds * 1_000, 100), 500))
    }

    private func request(
        _ method: HTTPMethod, _ path: String, _ fields: HTTPFields, _ body: [UInt8]
    ) -> HTTPRequest {
        HTTPRequest(
            method: method, url: base + path, fields: fields, body: body,
            limits: TimeLimits(connect: .seconds(1), firstByte: .seconds(12), total: .seconds(30)),
            maximumResponseBytes: 1 << 26, label: "demo")
    }
}
