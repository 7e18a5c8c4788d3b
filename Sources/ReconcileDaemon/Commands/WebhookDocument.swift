import Foundation
import ProgramEdge

/// A webhook as the operations API has it, for people to read.
struct WebhookDocument: Decodable {
    struct Page: Decodable {
        let data: [WebhookDocument]
        let next: String?

        enum CodingKeys: String, CodingKey {
            case data
            case next = "next_cursor"
        }
    }

    /// How many of a caller are due again.
    private struct Redelivered: Decodable {
        let redelivered: Int
    }

    let payment: String
    let caller: String
    let state: String
    let raised: Int64
    let raisedAt: String
    let deliveredAt: String?
    let dueAt: String?
    let attempts: Int
    let failure: String?

    enum CodingKeys: String, CodingKey {
        case caller, state, raised, attempts, failure
        case payment = "payment_id"
        case raisedAt = "raised_at"
        case deliveredAt = "delivered_at"
        case dueAt = "due_at"
    }

    /// Reads a page of the listing.
    ///
    /// - Throws: ``CommandFailure`` with the code `unavailable` if the answer is of another version.
    static func page(_ answer: Data) throws -> Page {
        do {
            return try JSONDecoder().decode(Page.self, from: answer)
        } catch {
            throw CommandFailure(.unavailable, "the daemon answers something else than a page of webhooks")
        }
    }

    /// One webhook: JSON as it came, or text.
    static func line(_ answer: Data, as format: OutputFormat) -> String {
        let text = String(decoding: answer, as: UTF8.self)
        guard format == .text else { return text }
        do {
            return try JSONDecoder().decode(WebhookDocument.self, from: answer).line
        } catch {
            return text
        }
    }

    /// How many of a caller are due again: JSON as it came, or text.
    static func redelivered(_ answer: Data, of caller: String, as format: OutputFormat) -> String {
        let text = String(decoding: answer, as: UTF8.self)
        guard format == .text else { return text }
        do {
            let count = try JSONDecoder().decode(Redelivered.self, from: answer).redelivered
            return switch count {
            case 0: "no webhook of \(caller) was given up"
            case 1: "1 webhook of \(caller) is due now"
            default: "\(count) webhooks of \(caller) are due now"
            }
        } catch {
            return text
        }
    }

    /// One line of a list.
    var line: String {
        let words = [payment, caller, state].map(TerminalText.written).joined(separator: "  ")
        return "\(words)  report \(raised) of \(TerminalText.written(raisedAt))\(progress)"
    }

    /// How far the newest report got.
    private var progress: String {
        if state == "delivered" { return deliveredAt.map { ", accepted \(TerminalText.written($0))" } ?? "" }
        let next = dueAt.map { ", next attempt \(TerminalText.written($0))" } ?? ""
        let vain = attempts == 0 ? "" : ", \(attempts) in vain"
        return next + vain + (failure.map { ", last failure \(TerminalText.written($0))" } ?? "")
    }
}
