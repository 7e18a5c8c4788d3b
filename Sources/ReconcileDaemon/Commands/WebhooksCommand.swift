import ArgumentParser
import Foundation
import HTTPTransport
import PaymentCore
import ProgramEdge
import Reconciler

struct WebhooksCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "What callers are told of their payments without asking: list, show, redeliver.",
        discussion: """
            It asks the daemon, which knows you by your token. Examples:
              reconciled webhooks list --state given_up --config reconciled.yaml --token-file hana.token
              reconciled webhooks show pay_… --config reconciled.yaml --token-file hana.token
              reconciled webhooks redeliver pay_… --config reconciled.yaml --token-file hana.token
              reconciled webhooks redeliver --given-up --caller shop --config reconciled.yaml --token-file hana.token
            """,
        subcommands: [ListWebhooks.self, ShowWebhook.self, RedeliverWebhooks.self],
        defaultSubcommand: ListWebhooks.self)

    static func caller(_ text: String) throws -> String {
        do {
            return try CallerID(text).name
        } catch {
            throw CommandFailure(.usage, "--caller: '\(text)'; allowed: \(error.allowed)")
        }
    }
}

struct ListWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists webhooks, newest first.",
        discussion: """
            Example:
              reconciled webhooks list --caller shop --state waiting --config reconciled.yaml --token-file hana.token
            """)

    @Option(help: "Only of this caller.") var caller: String?
    @Option(help: "Only in this state: \(Webhook.State.allCases.map(\.rawValue).joined(separator: ", ")).")
    var state: String?
    @OptionGroup var paging: ListPaging
    @OptionGroup var asking: OperationsOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let format = OutputFormat.chosen(output)
        for line in try await lines(format, after: CommandLine.arguments) { say(line, as: format) }
    }

    /// What is asked.
    func target() throws -> String {
        var target = "/v1/webhooks?limit=\(try paging.checkedLimit())"
        if let caller { target += "&caller=\(try WebhooksCommand.caller(caller))" }
        if let state {
            guard Webhook.State(rawValue: state) != nil else {
                let allowed = Webhook.State.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(.usage, "--state: '\(state)'; allowed: \(allowed)")
            }
            target += "&state=\(state)"
        }
        let plain = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-_"))
        if let cursor = paging.cursor?.addingPercentEncoding(withAllowedCharacters: plain) {
            target += "&cursor=\(cursor)"
        }
        return target
    }

    /// What is printed.
    ///
    /// - Parameter arguments: the words of the command, for the one that goes on.
    func lines(_ format: OutputFormat, after arguments: [String]) async throws -> [String] {
        let answer = try await asking.ask(.get, try target())
        guard format == .text else { return [String(decoding: answer, as: UTF8.self)] }
        let page = try WebhookDocument.page(answer)
        guard !page.data.isEmpty else { return ["no webhook is there"] }
        let more = page.next.map { ListPaging.more($0, as: format, after: arguments) }
        return page.data.map(\.line) + (more.map { [$0] } ?? [])
    }
}

struct ShowWebhook: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows how far the webhook of one payment got.",
        discussion: "Example:\n  reconciled webhooks show pay_… --config reconciled.yaml --token-file hana.token")

    @Argument(help: "The payment's id.") var payment: String
    @OptionGroup var asking: OperationsOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let format = OutputFormat.chosen(output)
        say(try await line(format), as: format)
    }

    /// What is printed.
    func line(_ format: OutputFormat) async throws -> String {
        let id = try PaymentID(argument: payment)
        return WebhookDocument.line(try await asking.ask(.get, "/v1/webhooks/\(id)"), as: format)
    }
}

struct RedeliverWebhooks: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redeliver",
        abstract: "Makes the webhook of a payment due at once, or all that were given up of a caller.",
        discussion: """
            Examples:
              reconciled webhooks redeliver pay_… --config reconciled.yaml --token-file hana.token
              reconciled webhooks redeliver --given-up --caller shop --config reconciled.yaml --token-file hana.token
            """)

    @Argument(help: "The payment's id, whatever became of its webhook.") var payment: String?
    @Flag(help: "All that were given up; needs --caller.") var givenUp = false
    @Option(help: "Whose, with --given-up.") var caller: String?
    @OptionGroup var asking: OperationsOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let format = OutputFormat.chosen(output)
        say(try await line(format), as: format)
    }

    /// What is asked.
    func request() throws -> (target: String, body: [String: any Sendable]?) {
        switch (payment, givenUp, caller) {
        case (let payment?, false, nil):
            return ("/v1/webhooks/\(try PaymentID(argument: payment))/redeliver", nil)
        case (nil, true, let caller?):
            return ("/v1/webhooks/redeliver", ["caller": try WebhooksCommand.caller(caller)])
        default: throw CommandFailure(.usage, "allowed: a payment's id, or --given-up with --caller")
        }
    }

    /// What is printed.
    func line(_ format: OutputFormat) async throws -> String {
        let (target, body) = try request()
        let answer = try await asking.ask(.post, target, body)
        guard let caller else { return WebhookDocument.line(answer, as: format) }
        return WebhookDocument.redelivered(answer, of: caller, as: format)
    }
}
