import Foundation
import ProgramEdge

/// A repair as the operations API has it, for people to read.
struct RepairDocument: Decodable {
    struct Page: Decodable {
        let data: [RepairDocument]
        let next: String?

        enum CodingKeys: String, CodingKey {
            case data
            case next = "next_cursor"
        }
    }

    struct Amount: Decodable {
        let value: Int64
        let currency: String
    }

    struct Evidence: Decodable {
        let text: String
        let sha256: String?
        let reference: String?
        let amount: Amount?
    }

    struct Decision: Decodable {
        let by: String
        let at: String
        let reason: String
    }

    let id: String
    let paymentID: String?
    let leg: Int?
    let discrepancyID: String?
    let refund: Int?
    let action: String
    let state: String
    let evidence: Evidence
    let isAgainstProvider: Bool
    let proposedBy: String
    let proposedAt: String
    let expiresAt: String
    let decision: Decision?

    enum CodingKeys: String, CodingKey {
        case id, leg, refund, action, state, evidence, decision
        case paymentID = "payment_id"
        case discrepancyID = "discrepancy_id"
        case isAgainstProvider = "against_provider"
        case proposedBy = "proposed_by"
        case proposedAt = "proposed_at"
        case expiresAt = "expires_at"
    }

    /// Reads a page of the listing.
    ///
    /// - Throws: ``CommandFailure`` with the code `unavailable` if the answer is of another version.
    static func page(_ answer: Data) throws -> Page {
        do {
            return try JSONDecoder().decode(Page.self, from: answer)
        } catch {
            throw CommandFailure(.unavailable, "the daemon answers something else than a page of repairs")
        }
    }

    /// Prints an answer: JSON as it came, text line by line.
    static func tell(_ answer: Data, as output: OutputFormat?) {
        let format = OutputFormat.chosen(output)
        let text = String(decoding: answer, as: UTF8.self)
        guard format == .text else { return say(text, as: format) }
        do {
            for line in try JSONDecoder().decode(RepairDocument.self, from: answer).lines { say(line) }
        } catch {
            say(text)
        }
    }

    /// What it is about.
    private var target: String {
        if let discrepancyID { return discrepancyID }
        return [paymentID, leg.map { "leg \($0)" }].compactMap { $0 }.joined(separator: " ")
            + (refund.map { ", refund \($0)" } ?? "")
    }

    /// One line of a list.
    var line: String {
        let against = isAgainstProvider ? "  against the provider" : ""
        let person = TerminalText.written(proposedBy)
        return "\(id)  \(state)  \(action)  \(target)\(against)  by \(person), until \(expiresAt)"
    }

    /// All of it.
    var lines: [String] {
        var lines = [line, "  evidence: \(TerminalText.written(evidence.text))"]
        if let reference = evidence.reference { lines.append("  reference: \(TerminalText.written(reference))") }
        if let amount = evidence.amount { lines.append("  amount: \(amount.value) \(amount.currency)") }
        if let file = evidence.sha256 { lines.append("  file: SHA-256 \(file)") }
        if let decision {
            lines.append(
                "  \(state) by \(TerminalText.written(decision.by)) at \(decision.at): "
                    + TerminalText.written(decision.reason))
        } else if state == "proposed" {
            lines.append("  It waits for another person: reconciled repairs approve \(id) --reason …")
        }
        if let discrepancyID, action == "undo", state == "approved" {
            lines.append("  A comparison begins it if it still sees the same.")
            lines.append("  What came of it: reconciled discrepancies show \(discrepancyID)")
        }
        return lines
    }
}
