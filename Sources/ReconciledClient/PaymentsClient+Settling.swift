internal import Foundation

/// How an operation is repeated until it is settled.
extension PaymentsClient {
    /// What an operation asks for, and what it takes to be settled.
    struct Course<Document: Decodable & Sendable>: Sendable {
        /// Where it stands, for whoever gives up waiting.
        let standing: @Sendable (Document) -> ClientError.Standing
        /// Whether it can be what the daemon made of the request.
        var isAnswer: @Sendable (Document) -> Bool = { _ in true }
        /// Whether nothing more comes of it by itself.
        let isSettled: @Sendable (Document) -> Bool
        /// Whether it is the turn of somebody else, so that waiting would not help. The operation stays unfinished.
        var isHandedOver: @Sendable (Document) -> Bool = { _ in false }
        /// Whether it never changes again.
        let isFinal: @Sendable (Document) -> Bool
        /// The document as it is now.
        let current: @Sendable (Document) async throws -> Reading<Document>

        /// An answer that was kept shows what was so then. A token that may not read has to do with it.
        func renewed(_ kept: Document) async throws -> Reading<Document> {
            if isFinal(kept) { return .shown(kept, .current, after: nil) }
            let reading = try await current(kept)
            if case .refused(let problem) = reading, problem.isOfToken { return .shown(kept, .current, after: nil) }
            return reading
        }
    }

    func settle(
        _ begun: (kept: StoredOperation, isNew: Bool), _ within: Duration, as asked: NewPayment? = nil
    ) async throws -> Payment {
        let course = Course<Payment>(
            standing: { .payment($0.state, id: $0.id) }, isAnswer: { payment in asked.map(payment.isAnswer) ?? true },
            // A create ends with the hold, if it was to end so; whatever is asked later, with the payment.
            isSettled: { asked == nil ? $0.state.isFinal : $0.state.isAtRest },
            isHandedOver: { asked != nil && $0.state == .requiresAction },
            isFinal: \.state.isFinal,
            current: { try await look(Self.path(of: $0.id)) })
        return try await settle(begun, within, course)
    }

    func settle(_ begun: (kept: StoredOperation, isNew: Bool), _ within: Duration) async throws -> Refund {
        let path = begun.kept.path.dropLast("/refunds".count)
        let course = Course<Refund>(
            standing: { .refund($0.state, id: $0.id) }, isSettled: \.state.isFinal,
            // What succeeded may fail at the provider later.
            isFinal: { _ in false },
            current: { refund in
                let payment: Reading<Payment> = try await look(String(path))
                return payment.map { $0.refunds.first { $0.id == refund.id } ?? refund }
            })
        return try await settle(begun, within, course)
    }

    private func settle<Document>(
        _ begun: (kept: StoredOperation, isNew: Bool), _ within: Duration, _ course: Course<Document>
    ) async throws -> Document {
        let operation = begun.kept
        let passed = clock.stopwatch()
        var isUnrecorded = begun.isNew
        var last: ClientError.Standing?
        var number = 0
        while true {
            let url = sites.url
            let left = within - passed()
            var outcome = try await reading(of: operation, url, left) as Reading<Document>
            if case .shown(let kept, .kept, _) = outcome { outcome = try await course.renewed(kept) }
            let why: String
            let named: Duration?
            switch outcome {
            case .shown(let document, _, let after) where !course.isAnswer(document):
                (why, named) = ("the answer shows something else than was asked for", after)
                isUnrecorded = false
            case .shown(let document, _, _) where course.isHandedOver(document): return document
            case .shown(let document, let freshness, let after):
                if freshness == .current, course.isSettled(document) {
                    try await journal.finish(operation.key)
                    return document
                }
                last = course.standing(document)
                (why, named) = ("it is still settling", after)
                isUnrecorded = false
            case .again(let after, let because, let problem):
                (why, named) = (because, after)
                isUnrecorded = isUnrecorded && problem?.isOfNothing == true
                turn(from: url, problem)
            case .refused(let problem):
                try await conclude(operation, refused: problem, isUnrecorded)
                throw ClientError.refused(problem)
            }
            let pause = settings.pause(number, named: named, chance: .random(in: 0...1))
            guard passed() + pause < within else {
                throw ClientError.unsettled(operation.key, last: last, because: why)
            }
            try await clock.sleep(for: pause)
            number += 1
        }
    }

    /// What is kept under the key of what was refused. A wrong token says nothing about the request.
    private func conclude(
        _ operation: StoredOperation, refused problem: Problem, _ isUnrecorded: Bool
    ) async throws {
        if problem.isKept {
            try await journal.finish(operation.key)
        } else if isUnrecorded, !problem.isOfToken {
            try await journal.forget(operation.key)
        }
    }

    private func turn(from url: URL, _ problem: Problem?) {
        let isAway = problem.map { $0.type == "/problems/site-not-active" } ?? true
        if isAway { sites.turn(from: url, to: problem?.activeSite?.url) }
    }

    private func reading<Document>(
        of operation: StoredOperation, _ url: URL, _ left: Duration
    ) async throws -> Reading<Document> {
        let wait = max(1, min(settings.wait, left).components.seconds)
        let headers = [
            "Content-Type": "application/json", "Idempotency-Key": operation.key.text, "Prefer": "wait=\(wait)",
        ]
        do {
            return Reading(
                try await send("POST", url, operation.path, headers, Data(operation.body.utf8), .seconds(wait)))
        } catch {
            try Task.checkCancellation()
            return .again(after: nil, because: PaymentsClient.text(of: error), problem: nil)
        }
    }

    private static func text(of error: any Error) -> String {
        guard let error = error as? NoToken else { return "no answer came (\(error))" }
        return "there is no token (\(error.reason))"
    }

    /// What is there now.
    func look<Document>(_ path: String) async throws -> Reading<Document> {
        let url = sites.url
        do {
            let reading = Reading<Document>(try await send("GET", url, path, [:], nil, .zero))
            if case .again(_, _, let problem) = reading { turn(from: url, problem) }
            return reading
        } catch {
            try Task.checkCancellation()
            sites.turn(from: url, to: nil)
            return .again(after: nil, because: PaymentsClient.text(of: error), problem: nil)
        }
    }

    func read<Document: Decodable & Sendable>(_ path: String) async throws -> Document {
        switch try await look(path) as Reading<Document> {
        case .shown(let document, _, _): return document
        case .again(_, let because, _): throw ClientError.unread(path, because: because)
        case .refused(let problem): throw ClientError.refused(problem)
        }
    }

    private func send(
        _ method: String, _ url: URL, _ path: String, _ headers: [String: String], _ body: Data?, _ wait: Duration
    ) async throws -> ClientAnswer {
        guard let target = URL(string: url.withoutSlash + path) else { throw URLError(.badURL) }
        var all = headers
        do {
            all["Authorization"] = "Bearer \(try await token())"
        } catch {
            throw NoToken(reason: error)
        }
        all["Accept"] = "application/json"
        return try await transport.send(
            ClientRequest(method: method, url: target, headers: all, body: body, timeLimit: wait + settings.slack))
    }
}

/// Nothing was sent, because whoever has the tokens gave none.
private struct NoToken: Error {
    let reason: any Error
}

extension Clock where Duration == Swift.Duration {
    /// How much time has passed since now.
    fileprivate func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: self.now) }
    }
}
