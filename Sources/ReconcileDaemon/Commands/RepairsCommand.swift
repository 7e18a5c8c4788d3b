import ArgumentParser
import Foundation
import HTTPTransport
import PaymentCore
import ProgramEdge

struct RepairsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "repairs",
        abstract: "What one person proposes about a payment that waits for people, or a discrepancy; another decides.",
        discussion: """
            It asks the daemon, which knows you by your token. Examples:
              reconciled repairs propose pay_… --action undone_outside --evidence "Their mail of today, case 17." \\
                --reference RV-881 --version 7 --config reconciled.yaml --token-file hana.token
              reconciled repairs list --config reconciled.yaml --token-file ken.token
              reconciled repairs approve rep_… --reason "I read it." --config reconciled.yaml --token-file ken.token
            """,
        subcommands: [
            ListRepairs.self, ShowRepair.self, ProposeRepair.self, ApproveRepair.self, RejectRepair.self,
        ],
        defaultSubcommand: ListRepairs.self)

    static func id(_ text: String) throws -> String {
        guard Repair.isID(text) else {
            throw CommandFailure(.usage, "'\(text)' is no repair id; allowed: rep_ and 40 hexadecimal digits")
        }
        return text
    }
}

struct ListRepairs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists repairs, newest first: those that wait for somebody.",
        discussion: "Example:\n  reconciled repairs list --config reconciled.yaml --token-file ken.token")

    @Option(help: "proposed, decided or all.") var state: String = "proposed"
    @OptionGroup var paging: ListPaging
    @OptionGroup var asking: OperationsOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        guard ["proposed", "decided", "all"].contains(state) else {
            throw CommandFailure(.usage, "--state: '\(state)'; allowed: proposed, decided, all")
        }
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_"))
        let cursor = paging.cursor.flatMap { $0.addingPercentEncoding(withAllowedCharacters: plain) }
        let place = cursor.map { "&cursor=\($0)" } ?? ""
        let answer = try await asking.ask(
            .get, "/v1/repairs?state=\(state)&limit=\(try paging.checkedLimit())\(place)")
        let format = OutputFormat.chosen(output)
        guard format == .text else { return say(String(decoding: answer, as: UTF8.self), as: format) }
        let page = try RepairDocument.page(answer)
        if page.data.isEmpty { say("no repair is there in the state \(state)") }
        for repair in page.data { say(repair.line) }
        if let next = page.next { say(ListPaging.more(next, as: format, after: CommandLine.arguments)) }
    }
}

struct ShowRepair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one repair.",
        discussion: "Example:\n  reconciled repairs show rep_… --config reconciled.yaml --token-file ken.token")

    @Argument(help: "The repair's id.") var id: String
    @OptionGroup var asking: OperationsOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let id = try RepairsCommand.id(id)
        RepairDocument.tell(try await asking.ask(.get, "/v1/repairs/\(id)"), as: output)
    }
}

struct ProposeRepair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "propose",
        abstract: "Proposes what is to become of a leg or a refund that waits for people, or of a discrepancy.",
        discussion: """
            Nothing moves before another person approves it. Examples:
              reconciled repairs propose pay_… --action charged --reference CH-4711 --amount 1000 --currency JPY \\
                --evidence "Their settlement file of today, line 12." --evidence-file settlement.csv --version 7 \\
                --config reconciled.yaml --token-file hana.token
              reconciled repairs propose pay_… --action resume --evidence "Their contract was mended." --version 7 \\
                --config reconciled.yaml --token-file hana.token
              reconciled repairs propose dis_… --action undo --evidence "No shop of ours sold it." --version 3 \\
                --config reconciled.yaml --token-file hana.token
            """)

    @Argument(help: "The payment's id, or the discrepancy's.") var subject: String
    @Option(help: "The leg's index; 0 without it.") var leg: Int?
    @Option(help: "The refund's id, where it is about one.") var refund: String?
    @Option(
        help: """
            One of \(Repair.Action.allCases.map(\.rawValue).joined(separator: ", ")).
            Of a discrepancy: undo or write_off.
            """)
    var action: String
    @Option(help: "What shows that it is so: who said what, and where it is kept.") var evidence: String
    @Option(help: "A file that shows it; its SHA-256 is kept, not the file.") var evidenceFile: String?
    @Option(help: "The provider's reference.") var reference: String?
    @Option(help: "The amount by the provider's word, in minor units; needs --currency.") var amount: Int64?
    @Option(help: "The currency of --amount.") var currency: String?
    @Flag(help: "You know that the provider's own newest answer says something else. It stays marked for ever.")
    var againstProvider = false
    @Option(help: "The version that you read, as payments show or discrepancies show says it.") var version: Int64
    @Option(help: "How long it may be approved, 1m to 7d.") var expires: String = "1d"
    @OptionGroup var asking: OperationsOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let answer = try await asking.ask(.post, "/v1/repairs", try body())
        RepairDocument.tell(answer, as: output)
    }

    /// The body of the request. What the daemon judges is left to it.
    func body() throws -> [String: any Sendable] {
        guard let lasts = DurationText.parse(expires) else {
            throw CommandFailure(.usage, "--expires: '\(expires)'; allowed: \(DurationText.allowed)")
        }
        var proof: [String: any Sendable] = ["text": evidence]
        if let evidenceFile {
            guard let content = FileManager.default.contents(atPath: evidenceFile) else {
                throw CommandFailure(.usage, "--evidence-file: '\(evidenceFile)' cannot be read; allowed: a file")
            }
            proof["sha256"] = Digest(ofFile: Array(content)).hex
        }
        if let reference { proof["reference"] = reference }
        guard (amount == nil) == (currency == nil) else {
            throw CommandFailure(.usage, "--amount needs --currency, and the other way round")
        }
        if let amount, let currency {
            let sum: [String: any Sendable] = ["value": amount, "currency": currency]
            proof["amount"] = sum
        }
        let body: [String: any Sendable] = [
            "action": action, "evidence": proof, "against_provider": againstProvider, "version": version,
            "expires_in_seconds": lasts.milliseconds / 1_000,
        ]
        return body.merging(try about()) { _, new in new }
    }

    /// What it is about, as members of the body.
    private func about() throws -> [String: any Sendable] {
        guard !subject.hasPrefix("dis_") else {
            guard let id = DiscrepancyID(text: subject) else {
                throw CommandFailure(
                    .usage, "'\(subject)' is no discrepancy id; allowed: dis_ and 40 hexadecimal digits")
            }
            guard leg == nil, refund == nil else {
                throw CommandFailure(.usage, "--leg and --refund are for a payment; a discrepancy has neither")
            }
            return ["discrepancy_id": id.text]
        }
        var members: [String: any Sendable] = ["payment_id": try PaymentID(argument: subject).text, "leg": leg ?? 0]
        if let refund { members["refund"] = refund }
        return members
    }
}

/// Who decides about which repair, and why; shared by both commands.
struct RepairDecisionOptions: ParsableArguments {
    @Argument(help: "The repair's id.") var id: String
    @Option(help: "Why.") var reason: String
    @OptionGroup var asking: OperationsOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func perform(_ verb: String) async throws {
        let target = "/v1/repairs/\(try RepairsCommand.id(id))/\(verb)"
        RepairDocument.tell(try await asking.ask(.post, target, ["reason": reason]), as: output)
    }
}

struct ApproveRepair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "approve", abstract: "Approves what somebody else proposed, and carries it out.",
        discussion: """
            Example:
              reconciled repairs approve rep_… --reason "I read it." --config reconciled.yaml --token-file ken.token
            """)

    @OptionGroup var options: RepairDecisionOptions

    func run() async throws { try await options.perform("approve") }
}

struct RejectRepair: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reject", abstract: "Rejects a repair, or takes back what you proposed.",
        discussion: """
            Example:
              reconciled repairs reject rep_… --reason "Another case." --config reconciled.yaml --token-file ken.token
            """)

    @OptionGroup var options: RepairDecisionOptions

    func run() async throws { try await options.perform("reject") }
}
