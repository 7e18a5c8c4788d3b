import Foundation
import PaymentCore
import PostgresStore
import ProgramEdge

/// How many file descriptors this process may have.
struct DescriptorLimits: Equatable {
    /// What it may have now.
    var soft: Int
    /// What it may give itself.
    var hard: Int

    /// More than anything here needs; a hard limit may be without end.
    private static let most = 1 << 20

    #if canImport(Glibc)
        private static let kind = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let kind = RLIMIT_NOFILE
    #endif

    /// What holds now.
    static var current: DescriptorLimits {
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return DescriptorLimits(soft: 0, hard: 0) }
        return DescriptorLimits(soft: number(limit.rlim_cur), hard: number(limit.rlim_max))
    }

    /// What is there after the start.
    var available: Int { max(soft, hard) }

    /// Raises the soft limit to the hard one. The usual soft limit is there for programs that use `select`; who runs
    /// out of descriptors can neither answer nor write, and libraries end the process.
    /// - Returns: how many there are now.
    static func raise() -> Int {
        let now = current
        guard now.soft < now.hard else { return now.soft }
        var limit = rlimit()
        guard getrlimit(kind, &limit) == 0 else { return now.soft }
        limit.rlim_cur = rlim_t(now.hard)
        // Where it is refused, what is left is divided.
        return setrlimit(kind, &limit) == 0 ? now.hard : now.soft
    }

    private static func number(_ value: rlim_t) -> Int { Int(min(value, rlim_t(most))) }
}

/// Who may have how many of them, so that strangers on a listener never take those of the store and the providers.
struct DescriptorBudget: Equatable {
    /// How many there are.
    let available: Int
    /// Connections of the store and of the witness, and files of it.
    let store: Int
    /// Connections to providers, and what looks their names up.
    let providers: Int
    /// The endpoints of callers' webhooks.
    let webhooks: Int
    /// The operators' listener.
    let operators: Int
    /// Logs, event loops, timers, and what nobody counts.
    let rest = 64
    /// Connections of callers: what is configured, or what is left.
    let callers: Int

    /// Accepted beyond the maximum while others are closed, on each listener.
    private static let slack = 16
    /// With fewer connections nobody should serve.
    private static let fewest = 16

    /// Divides `available` descriptors.
    /// - Throws: ``CommandFailure`` where too few are left for callers.
    init(_ configuration: Configuration, available: Int) throws {
        self.available = available
        store = DescriptorBudget.store(configuration)
        providers = configuration.providers.map { $0.contract.concurrency + 8 }.reduce(0, +)
        webhooks = configuration.webhooks.count * (WebhookSettings.connections + 8)
        operators = configuration.admin.maximumConnections + DescriptorBudget.slack
        let others = store + providers + webhooks + operators + rest
        callers = min(configuration.http.maximumConnections, available - others - DescriptorBudget.slack)
        guard callers >= DescriptorBudget.fewest else {
            throw CommandFailure(
                .usage,
                """
                \(available) file descriptors are too few: \(others) are for the store (\(store)), providers \
                (\(providers)), webhooks (\(webhooks)), operators (\(operators)) and the rest (\(rest)); allowed: a \
                hard limit (ulimit -Hn) of at least \(others + DescriptorBudget.slack + DescriptorBudget.fewest)
                """)
        }
    }

    private static func store(_ configuration: Configuration) -> Int {
        let witness = configuration.site.witness == nil ? 0 : 8
        switch configuration.store {
        // A writer and four readers, each with the file, its log and the memory that they share.
        case .sqlite: return 24 + witness
        // One more listens, one tells a server to give up, and a lost one may linger beside its successor.
        case .postgres(let settings): return 2 * (settings.writers + settings.readers + 1) + 2 + witness
        }
    }

    /// Requests of callers that are answered at the same time: so that some connections always rest, and newcomers hear
    /// that there is too much to do instead of nothing.
    func requests(configured: Int) -> Int { min(configured, max(1, callers / 4 * 3)) }

    /// What `check-config` says of it.
    func summary(_ limits: DescriptorLimits, _ configuration: Configuration) -> [String] {
        var lines = [
            """
            file descriptors: soft limit \(limits.soft), hard limit \(limits.hard), to which the start raises it; at \
            most \(callers) for callers, \(operators) for operators, \(providers) for providers, \(webhooks) for \
            webhooks, \(store) for the store, \(rest) for the rest
            """
        ]
        let (wanted, requests) = (configuration.http.maximumConnections, configuration.maximumConcurrentRequests)
        if callers < wanted {
            lines.append("callers: \(callers) connections instead of \(wanted), by the limit of file descriptors")
        }
        if self.requests(configured: requests) < requests {
            let possible = self.requests(configured: requests)
            lines.append("callers: \(possible) requests at a time instead of \(requests), by the number of connections")
        }
        return lines
    }
}
