import ArgumentParser
import Foundation
import OperationsConsole
import PaymentCore
import ProgramEdge
import Reconciler

struct PaymentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "payments", abstract: "Reads payments from the store, and checks their audit trails.",
        discussion: """
            Examples:
              reconciled payments list --config reconciled.yaml --waiting-for people
              reconciled payments show pay_… --config reconciled.yaml
              reconciled payments explain pay_… --config reconciled.yaml
              reconciled payments reconcile pay_… --config reconciled.yaml
              reconciled payments verify --config reconciled.yaml
            """,
        subcommands: [
            ListPayments.self, ShowPayment.self, ExplainPayment.self, ReconcilePayment.self, VerifyPayments.self,
        ])
}

func openStore(_ options: ConfigurationOptions) async throws -> any ClosableStore {
    let configuration = try options.loadForBooks()
    return try await configuration.store.open(
        at: configuration.site.name, reportingTo: configuration.reportedCallers, mustExist: true)
}

struct ListPayments: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Lists payments, newest first.",
        discussion: "Example:\n  reconciled payments list --config reconciled.yaml --state processing --limit 20")

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Only in this state: \(PaymentState.allCases.map(\.rawValue).joined(separator: ", ")).")
    var state: String?
    @Option(help: "Only with an operation that waits for this: people, time.") var waitingFor: String?
    @Option(help: "Only with this reference.") var reference: String?
    @Option(help: "Only what is known under this key: a caller's idempotency key, or a key at a provider.")
    var key: String?
    @Option(help: "Only with a leg at this provider.") var provider: String?
    @OptionGroup var paging: ListPaging
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let query = try query()
        let store = try await openStore(options)
        let format = OutputFormat.chosen(output)
        for line in try await lines(query, in: store, format, after: CommandLine.arguments) { say(line, as: format) }
    }

    /// What is wanted, from the place on that the cursor names.
    func query() throws -> PaymentQuery {
        var query = PaymentQuery(limit: try paging.checkedLimit())
        if let state {
            guard let known = PaymentState(rawValue: state) else {
                let allowed = PaymentState.allCases.map(\.rawValue).joined(separator: ", ")
                throw CommandFailure(.usage, "--state: '\(state)'; allowed: \(allowed)")
            }
            query.state = known
        }
        if let waitingFor {
            guard let known = WaitsFor(rawValue: waitingFor) else {
                throw CommandFailure(.usage, "--waiting-for: '\(waitingFor)'; allowed: people, time")
            }
            query.waitsFor = known
        }
        if let provider {
            do {
                query.provider = try ProviderName(provider)
            } catch {
                throw CommandFailure(.usage, "--provider: '\(provider)'; allowed: \(error.allowed)")
            }
        }
        query.reference = reference
        if let key {
            do {
                query.key = try IdempotencyKey(key)
            } catch {
                // What was written may be a card number: it is not repeated.
                throw CommandFailure(.usage, "--key: allowed: \(error.allowed)")
            }
        }
        query.after = try paging.after { OperatorCursor.cursor($0, of: query) }
        return query
    }

    /// What is printed.
    ///
    /// - Parameter arguments: the words of the command, for the one that goes on.
    func lines(
        _ query: PaymentQuery, in store: any PaymentStore, _ format: OutputFormat, after arguments: [String]
    ) async throws -> [String] {
        let page = try await store.payments(query)
        let more = page.next.map { ListPaging.more(OperatorCursor.text($0, of: query), as: format, after: arguments) }
        return page.items.map { PaymentLine.render($0, as: format) } + (more.map { [$0] } ?? [])
    }
}

struct ShowPayment: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Shows one payment with its audit trail.",
        discussion: "Example:\n  reconciled payments show pay_… --config reconciled.yaml")

    @Argument(help: "The payment's id.") var id: String
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "text or json.") var output: OutputFormat?

    func run() async throws {
        let id = try PaymentID(argument: id)
        let store = try await openStore(options)
        guard let payment = try await store.payment(id) else {
            throw CommandFailure(.finding, "there is no payment \(id)")
        }
        let format = OutputFormat.chosen(output)
        say(PaymentLine.render(payment, as: format), as: format)
        try await store.eachEntry(of: id) { say(PaymentLine.render($0, as: format), as: format) }
    }
}

extension PaymentStore {
    /// Reads a payment's whole trail, page by page, oldest first.
    func eachEntry(of id: PaymentID, _ visit: (AuditEntry) -> Void) async throws {
        let page = 500
        var last: Int64 = 0
        while true {
            let entries = try await auditTrail(of: id, after: last, limit: page)
            entries.forEach(visit)
            guard let newest = entries.last, entries.count == page else { return }
            last = newest.sequence
        }
    }
}

extension PaymentID {
    /// The id that a command was given.
    init(argument: String) throws {
        guard let id = PaymentID(text: argument) else {
            throw CommandFailure(.usage, "'\(argument)' is no payment id; allowed: pay_ and 40 hexadecimal digits")
        }
        self = id
    }
}

struct ReconcilePayment: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reconcile", abstract: "Has a payment's undecided statuses read now, whatever the schedule says.",
        discussion: """
            It makes the payment due; a running daemon takes it up within its poll interval.
            Example:
              reconciled payments reconcile pay_… --config reconciled.yaml
            """)

    @Argument(help: "The payment's id.") var id: String
    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let id = try PaymentID(argument: id)
        let configuration = try options.loadForBooks()
        let store = try await openStore(options)
        for _ in 0..<5 {
            guard let payment = try await store.payment(id) else {
                throw CommandFailure(.finding, "there is no payment \(id)")
            }
            var machine = PaymentMachine(payment: payment)
            var context = configuration.machineContext(at: try await store.now())
            context.mayBegin = false
            _ = machine.handle(.inquireNow, context)
            let change = PaymentChange(payment: machine.payment, entries: machine.newEntries, lease: .none)
            if case .committed = try await store.commit(change) {
                return say("\(id) is \(payment.state.rawValue); \(Self.next(payment))")
            }
        }
        throw CommandFailure(.unavailable, "the payment is being changed all the time; try again")
    }

    /// What a payment that was made due comes to.
    static func next(_ payment: Payment) -> String {
        let isSettled = payment.state.isFinal && payment.refunds.allSatisfy(\.state.isFinal)
        return payment.isResting || isSettled
            ? "nothing of it is undecided: only a comparison reads it again (reconciled reconcile)"
            : "its undecided statuses are read next"
    }
}

struct VerifyPayments: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Checks every audit trail, the chain of seals over them, and every payment by its trail.",
        discussion: "Example:\n  reconciled payments verify --config reconciled.yaml\nExits 1 if anything is broken.")

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let breaks = try await openStore(options).verifySeals()
        guard breaks.isEmpty else {
            throw CommandFailure(.finding, breaks.map { "\($0)" }.joined(separator: "\n"))
        }
        say("every audit trail and every seal is intact, and every payment is what its trail says")
    }
}

/// One line for a payment or an entry of its trail.
enum PaymentLine {
    static func render(_ payment: Payment, as format: OutputFormat) -> String {
        let legs = payment.legs.map { "\($0.provider) \($0.amount)" }
        guard format == .json else {
            let reason = payment.reason.map { reason in
                " (\(reason.code.rawValue)\(reason.detail.map { ": \(TerminalText.written($0))" } ?? ""))"
            }
            return "\(payment.id)  \(payment.createdAt.rfc3339)  \(payment.state.rawValue)\(reason ?? "")  "
                + "\(payment.amount)  \(legs.joined(separator: ", "))"
        }
        return json([
            "id": payment.id.text, "created_at": payment.createdAt.rfc3339, "state": payment.state.rawValue,
            "reason": payment.reason?.code.rawValue ?? "", "amount": String(payment.amount.value),
            "currency": payment.amount.currency.code, "legs": legs.joined(separator: ", "),
        ])
    }

    static func render(_ entry: AuditEntry, as format: OutputFormat) -> String {
        let fields = entry.fields.map { "\($0.name)=\($0.value)" }
        guard format == .json else {
            let leg = entry.leg.map { " leg \($0)" } ?? ""
            return "  \(entry.sequence)  \(entry.at.rfc3339)  \(entry.type.rawValue)\(leg)  "
                + fields.map(TerminalText.written).joined(separator: " ")
        }
        return json([
            "sequence": String(entry.sequence), "at": entry.at.rfc3339, "type": entry.type.rawValue,
            "leg": entry.leg.map { String($0) } ?? "", "detail": fields.joined(separator: " "),
            "hash": entry.hash.hex,
        ])
    }

    static func json(_ values: [String: String]) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return String(decoding: try encoder.encode(values), as: UTF8.self)
        } catch {
            return "{}"  // Texts always encode.
        }
    }
}
