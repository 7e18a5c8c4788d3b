import ArgumentParser
import PaymentAPI
import PaymentCore
import ProgramEdge
import Reconciler

struct ExplainPayment: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Says why a payment is in its state, and what would change it.",
        discussion: """
            It says what the machine would decide now, of the payment as it is stored, and does nothing of it.
            With --replay, each decision that the trail recorded with its facts is made again by this version.
            With --what-if, each is made again as if the provider's contract were that of a file, which holds what
            `contract` of a provider holds in the configuration: of one payment, or of the newest ones.
            Examples:
              reconciled payments explain pay_… --config reconciled.yaml
              reconciled payments explain pay_… --config reconciled.yaml --replay
              reconciled payments explain --what-if contract.yaml --provider card --last 1000 --config reconciled.yaml
            Exits 1 if another row decides a recorded decision.
            """)

    @Argument(help: "The payment's id; with --what-if it may be left out.") var id: String?
    @OptionGroup var options: ConfigurationOptions
    @Flag(help: "Make the recorded decisions again.") var replay = false
    @OptionGroup var trial: ContractTrialOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let payment = try id.map { try PaymentID(argument: $0) }
        if let file = try trial.checkedFile(isReplay: replay, hasID: payment != nil) {
            return try await tryContract(inFile: file, of: payment)
        }
        guard let id = payment else {
            throw CommandFailure(.usage, "the payment's id is missing; only with --what-if it may be left out")
        }
        let configuration = try options.loadForBooks()
        let store = try await openStore(options)
        guard let payment = try await store.payment(id) else {
            throw CommandFailure(.finding, "there is no payment \(id)")
        }
        let format = OutputFormat.chosen(output)
        guard replay else {
            let context = configuration.machineContext(at: try await store.now())
            let explanation = PaymentMachine.explain(payment, context)
            for line in ExplanationLines.lines(explanation, as: format) { say(line, as: format) }
            return
        }
        var seen = ReplayCount()
        try await store.eachEntry(of: id) { entry in
            for decision in ReplayedDecision.all(of: entry) {
                seen.add(decision)
                say(ExplanationLines.line(decision, entry, as: format), as: format)
            }
        }
        if format == .text { say(seen.words) }
        guard seen.others == 0 else {
            throw CommandFailure(
                .finding, "\(seen.others) of \(seen.all) recorded decisions are made by another row now")
        }
    }
}

extension ExplainPayment {
    private func tryContract(inFile file: String, of payment: PaymentID?) async throws {
        let configuration = try options.loadForBooks()
        let trials = try trial.trials(inFile: file, configuration)
        let store = try await openStore(options)
        let format = OutputFormat.chosen(output)
        for line in trials.differences + trials.warnings { format == .text ? say(line) : warn(line) }
        let count = try await trials.run(of: payment, in: store) { say($0.line(as: format), as: format) }
        say(count.line(as: format), as: format)
        guard count.others == 0 else {
            throw CommandFailure(
                .finding, "\(count.others) of \(count.all) recorded decisions would be made by another row")
        }
    }
}

/// How many recorded decisions were made again, and what became of them.
struct ReplayCount {
    private(set) var all = 0
    private(set) var others = 0
    private(set) var unreadable = 0

    mutating func add(_ decision: ReplayedDecision) {
        all += 1
        switch decision {
        case .same: break
        case .other: others += 1
        case .unreadable: unreadable += 1
        }
    }

    var words: String {
        let rest = unreadable == 0 ? "" : "; \(unreadable) were recorded by a version that knows other facts"
        return "\(all - others - unreadable) of \(all) recorded decisions are made by the same row\(rest)"
    }
}

/// An explanation as a terminal shows it, or as lines of JSON.
enum ExplanationLines {
    static func lines(_ explanation: PaymentExplanation, as format: OutputFormat) -> [String] {
        guard format == .text else { return [ExplanationDocument.json(explanation)] }
        var lines = [PaymentLine.render(explanation.payment, as: .text)] + indented(explanation.sentences, by: 2)
        for leg in explanation.legs {
            lines.append("  leg \(leg.leg.index), \(leg.leg.amount) at \(leg.leg.provider): \(leg.standing.rawValue)")
            lines += indented(leg.sentences, by: 4)
        }
        for part in explanation.refunds {
            let amount = part.refund.flatMap { index in
                explanation.payment.refunds[index].parts.first { $0.leg == part.leg.index }?.effect.amount
            }
            lines.append("  refund \((part.refund ?? 0) + 1), \(amount.map { "\($0) " } ?? "")of leg \(part.leg.index)")
            lines += indented(part.sentences, by: 4)
        }
        if !explanation.remedies.isEmpty {
            lines.append("  What you may do (version \(explanation.payment.version)):")
            lines += indented(explanation.remedies.map(\.sentence), by: 4)
        }
        return lines
    }

    static func line(_ decision: ReplayedDecision, _ entry: AuditEntry, as format: OutputFormat) -> String {
        let leg = entry.leg.map { " leg \($0)" } ?? ""
        let (row, verdict): (String, String) =
            switch decision {
            case .same(let row): (row, "the same row")
            case .other(let recorded, let now): (recorded, "now \(now)")
            case .unreadable(let row): (row, "recorded by a version that knows other facts")
            }
        guard format == .json else {
            return "  \(entry.sequence)  \(entry.type.rawValue)\(leg)  \(row): \(verdict)"
        }
        var values = ["sequence": String(entry.sequence), "type": entry.type.rawValue, "row": row]
        switch decision {
        case .same: values["verdict"] = "same"
        case .other(_, let now): (values["verdict"], values["now"]) = ("other", now)
        case .unreadable: values["verdict"] = "unreadable"
        }
        return PaymentLine.json(values)
    }

    // What callers and providers wrote is part of some sentences.
    private static func indented(_ sentences: [String], by width: Int) -> [String] {
        sentences.map { String(repeating: " ", count: width) + TerminalText.written($0) }
    }
}
