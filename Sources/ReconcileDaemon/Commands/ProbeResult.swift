import Foundation
import PaymentCore
import Prober
import ProgramEdge

/// What a probe came to, in words.
struct ProbeResult {
    let report: Prober.Report
    /// What is configured.
    let contract: ProviderContract
    let run: String

    // MARK: Lines

    func lines(as format: OutputFormat) -> [String] {
        switch format {
        case .json:
            return report.findings.map(json) + report.breaches.map { Self.json(["event": "breach", "text": $0]) }
                + report.notes.map { Self.json(["event": "note", "text": $0]) }
                + Self.lines(of: report.leftBehind, as: format)
                + [Self.json(["event": "done", "run": run, "requests": "\(report.requests)"])]
        case .text:
            var lines = report.findings.flatMap(text)
            if !report.breaches.isEmpty {
                lines += ["", "taken for proof that nothing was executed, and wrong"]
                lines += report.breaches.map { "  " + TerminalText.written($0) }
            }
            if !report.notes.isEmpty {
                lines += ["", "besides"] + report.notes.map { "  " + TerminalText.written($0) }
            }
            lines += [
                "",
                "\(report.requests) requests for \(report.transactions) transactions of the probe's own; "
                    + (report.leftBehind.isEmpty ? "everything was given back" : "not everything was given back:"),
            ]
            return lines + Self.lines(of: report.leftBehind, as: format)
        }
    }

    /// What may still hold money.
    static func lines(of left: [Prober.Remainder], as format: OutputFormat) -> [String] {
        left.map { remainder in
            format == .text
                ? "  \(remainder.key): \(TerminalText.written(remainder.reason))"
                : json(["event": "left_behind", "key": remainder.key.text, "reason": remainder.reason])
        }
    }

    private func text(_ finding: ProbeFinding) -> [String] {
        let longest = report.findings.map(\.property.rawValue.count).max() ?? 0
        let property = finding.property.rawValue.padding(
            toLength: max(22, longest + 2), withPad: " ", startingAt: 0)
        let verdict = finding.verdict(on: contract).rawValue.padding(toLength: 13, withPad: " ", startingAt: 0)
        let configured = Self.text(contract.value(of: finding.property))
        return ["\(property)\(verdict)\(configured)\(seen(finding))"]
            + finding.evidence.map { "  " + TerminalText.written($0) }
    }

    /// What was seen, beside what is configured.
    private func seen(_ finding: ProbeFinding) -> String {
        switch finding.sight {
        case .exactly(let value):
            value == contract.value(of: finding.property) ? "" : "; seen: \(Self.text(value))"
        case .atLeast(let value):
            value == contract.value(of: finding.property) ? "" : "; seen so far: \(Self.text(value))"
        case .atMost(let value):
            value == contract.value(of: finding.property) ? "" : "; seen: \(Self.text(value)) or worse"
        case .nothing(let reason): "; not measured: \(reason)"
        }
    }

    private func json(_ finding: ProbeFinding) -> String {
        var members: [String: any Encodable] = [
            "event": "finding", "property": finding.property.rawValue,
            "verdict": finding.verdict(on: contract).rawValue,
            "configured": Self.text(contract.value(of: finding.property)), "evidence": finding.evidence,
        ]
        switch finding.sight {
        case .exactly(let value): members["seen"] = Self.text(value)
        case .atLeast(let value): members["seen_at_least"] = Self.text(value)
        case .atMost(let value): members["seen_at_most"] = Self.text(value)
        case .nothing(let reason): members["not_measured"] = reason
        }
        return Self.json(members)
    }

    private static func json(_ members: [String: any Encodable]) -> String {
        do {
            let data = try JSONSerialization.data(
                withJSONObject: members, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: data, as: UTF8.self)
        } catch {
            return "{}"  // Not reached: text and lists of text are JSON.
        }
    }

    /// As the configuration spells it.
    static func text(_ value: PropertyValue) -> String {
        switch value {
        case .word(let word): word
        case .flag(let flag): flag ? "true" : "false"
        case .number(let number): "\(number)"
        case .span(nil): "forever"
        case .span(let span?): span >= ProviderContract.unboundedLag ? "unbounded" : DurationText.render(span)
        }
    }

    // MARK: The contract

    /// A contract that claims what was seen, with the evidence beside each line. It can stand in the place of the
    /// provider's `contract`.
    func yaml(provider: ProviderName, at moment: Timestamp) -> String {
        var lines = [
            "# Measured at \(provider) by `reconciled probe`, run \(run), \(moment.rfc3339).",
            "# What is trusted was not measured, and stands as it was configured.",
        ]
        for finding in report.findings {
            let verdict = finding.verdict(on: contract)
            let value = finding.value(besides: contract)
            var comments = finding.evidence
            if case .nothing(let reason) = finding.sight { comments.append("not measured: \(reason)") }
            lines += comments.map { "# \(TerminalText.written($0))" }
            let configured = Self.text(contract.value(of: finding.property))
            let mark =
                verdict == .contradicted || verdict == .modest ? "measured; configured: \(configured)" : verdict.mark
            lines.append("\(finding.property.rawValue): \(Self.text(value))  # \(mark)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    func write(to path: String, provider: ProviderName) throws {
        do {
            try Data(yaml(provider: provider, at: SystemClock().now()).utf8).write(to: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure(.unavailable, "--write: \(path) cannot be written: \(error.localizedDescription)")
        }
    }

    // MARK: The exit

    /// - Throws: what must not be: claims that were not seen, and money that is left behind.
    func judge() throws {
        guard report.leftBehind.isEmpty else {
            throw CommandFailure(
                .finding,
                "\(report.leftBehind.count) transactions may still hold money; "
                    + "reconciled probe --undo \(run) tries again")
        }
        guard report.breaches.isEmpty else {
            throw CommandFailure(
                .finding,
                "\(report.breaches.count) answers say that nothing was executed, and something was: the adapter's "
                    + "table of answers is wrong")
        }
        let wrong = report.findings.filter { $0.verdict(on: contract) == .contradicted }.map(\.property.rawValue)
        guard wrong.isEmpty else {
            throw CommandFailure(
                .finding, "the configured contract claims what was not seen: \(wrong.joined(separator: ", "))")
        }
    }
}

extension ProbeFinding.Verdict {
    /// Beside a line of the contract.
    var mark: String {
        switch self {
        case .trusted: "trusted"
        case .confirmed, .modest, .contradicted: "measured"
        }
    }
}
