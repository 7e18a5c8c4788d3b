internal import Foundation

/// Of when a document is, and whether it is the end.
enum Freshness: Sendable, Hashable {
    /// It shows how the operation ended, or how things are.
    case current
    /// The operation is still settling (202).
    case settling
    /// It is the first settled answer, kept from before.
    case kept
}

/// What one answer means for the operation that was sent. Only what the daemon itself says counts: a page of a proxy
/// says nothing about the payment.
enum Reading<Document: Decodable & Sendable>: Sendable {
    /// The daemon's document.
    case shown(Document, Freshness, after: Duration?)
    /// The same request may succeed later.
    case again(after: Duration?, because: String, problem: Problem?)
    /// The same request will not succeed.
    case refused(Problem)

    init(_ answer: ClientAnswer, as type: Document.Type = Document.self) {
        let after = Self.pause(answer)
        if (200...299).contains(answer.status) {
            guard let document = try? JSONDecoder().decode(type, from: answer.body) else {
                self = .again(after: after, because: "\(answer.status) without a document of the daemon", problem: nil)
                return
            }
            let isKept = answer.headers["idempotent-replayed"] == "true"
            self = .shown(document, isKept ? .kept : answer.status == 202 ? .settling : .current, after: after)
            return
        }
        guard let problem = try? JSONDecoder().decode(Problem.self, from: answer.body),
            problem.type.hasPrefix("/problems/"), problem.status == answer.status
        else {
            self = .again(
                after: after, because: "\(answer.status), which is no answer of the daemon", problem: nil)
            return
        }
        if problem.retryable == true || problem.status >= 500 {
            self = .again(after: after, because: problem.description, problem: problem)
        } else {
            self = .refused(problem)
        }
    }

    /// The same about a part of the document.
    func map<Part>(_ part: (Document) -> Part) -> Reading<Part> {
        switch self {
        case .shown(let document, let freshness, let after): .shown(part(document), freshness, after: after)
        case .again(let after, let because, let problem): .again(after: after, because: because, problem: problem)
        case .refused(let problem): .refused(problem)
        }
    }

    /// `Retry-After` in seconds, at most a day.
    private static func pause(_ answer: ClientAnswer) -> Duration? {
        guard let text = answer.headers["retry-after"], let seconds = Int(text), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 86_400))
    }
}
