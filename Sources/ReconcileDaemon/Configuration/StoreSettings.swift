import Foundation
import Logging
import PaymentCore
import PostgresStore
import ProgramEdge
import Reconciler
import SQLiteStore

/// Where payments are kept.
enum StoreSettings {
    /// One SQLite file, and how long comparisons remember there what is settled.
    case sqlite(path: String, retention: Span? = nil)
    /// A PostgreSQL database that several daemons may share.
    case postgres(PostgresStoreConfiguration)

    static let allowed = "sqlite:<path>, or postgres:// with a host and a database, or postgres: and libpq's key words"

    /// How long payments that ended are kept; `nil` for ever.
    var paymentsKeptFor: Span? {
        switch self {
        case .sqlite: nil
        case .postgres(let settings): settings.retention
        }
    }

    /// Reads the section `store`.
    static func read(_ section: ConfigurationSection, environment: [String: String]) -> StoreSettings {
        let text = section.text("url") ?? "sqlite:reconciled.sqlite"
        let password = section.secret("password")
        let schema = section.value("schema", allowed: "a name of a-z, 0-9 and _", default: "reconciled") { name in
            name.wholeMatch(of: /[a-z][a-z0-9_]{0,47}/) == nil ? nil : name
        }
        let writers = section.int("writers", in: 1...64, default: 2)
        let readers = section.int("readers", in: 1...256, default: 4)
        let timeLimit = section.duration("time_limit", default: .seconds(10))
        let retention = section.durationOrForever("retention", default: nil)
        if let retention, retention < .days(90) {
            section.report(
                "retention", value: "\(retention.milliseconds / 86_400_000)d", allowed: "at least 90d, or forever")
        }
        if text.hasPrefix("sqlite:"), text.count > 7 {
            return .sqlite(path: String(text.dropFirst(7)), retention: retention)
        }
        do {
            var settings = try postgres(text)
            // In a file that many can read a password is nobody's secret.
            guard !settings.holdsPassword || environment[section.variableName("url")] != nil else {
                section.report(
                    "url", value: "(hidden: it holds a password)",
                    allowed:
                        "a password in \(section.variableName("password")), password_file, or libpq's password file")
                return .sqlite(path: "")
            }
            settings.password = password
            (settings.schema, settings.writers, settings.readers) = (schema, writers, readers)
            (settings.timeLimit, settings.retention) = (timeLimit, retention)
            return .postgres(settings)
        } catch {
            let value = text.hasPrefix("postgres") ? "(hidden: it may hold a password)" : text
            section.report("url", value: value, allowed: "\(allowed) (\(error.cause))")
            return .sqlite(path: "")
        }
    }

    /// What is done while no synchronous standby confirms; `nil` where nobody counts on one.
    static func readRequirement(_ section: ConfigurationSection, _ store: StoreSettings) -> StandbyWatch.Requirement? {
        guard section.text("require_standby") != nil else { return nil }
        let requirement = section.choice("require_standby", default: StandbyWatch.Requirement.warn)
        if case .sqlite = store {
            section.report(
                "require_standby", value: requirement.rawValue,
                allowed: "only with PostgreSQL: an SQLite file has no copy")
        }
        return requirement
    }

    /// A witness's database; `nil` if it is none.
    static func witness(_ text: String) -> PostgresStoreConfiguration? { try? postgres(text) }

    private static func postgres(_ text: String) throws(StoreFailure) -> PostgresStoreConfiguration {
        if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
            return try PostgresStoreConfiguration(dsn: text)
        }
        guard text.hasPrefix("postgres:") else {
            throw StoreFailure(.incompatible, operation: "connect", cause: "it names no store")
        }
        return try PostgresStoreConfiguration(dsn: String(text.dropFirst(9)))
    }
}

/// A store that the daemon opened and closes.
protocol ClosableStore: PaymentStore, SiteStore, RepairStore, ComparisonStore, WebhookStore {
    func close() async throws(StoreFailure)
    /// Does what a store needs now and then.
    func maintain() async throws(StoreFailure)
}

extension SQLiteStore: ClosableStore {
    func maintain() async throws(StoreFailure) { _ = try await upkeep() }
}

extension PostgresStore: ClosableStore {
    func maintain() async throws(StoreFailure) { _ = try await upkeep() }
}

extension StoreSettings {
    /// Opens the store.
    ///
    /// - Parameters:
    ///   - site: the site by whose terms it is written.
    ///   - callers: whose payments are reported by webhooks: whoever changes a payment raises them.
    ///   - mustExist: whether an SQLite file that is not there is an error; else it is made.
    ///   - isDaemon: whether it is opened to serve: one daemon works on an SQLite file at a time.
    ///   - adoptsTerm: whether it writes under the newest term if that is the site's; a daemon proves first that it
    ///     may.
    /// - Throws: ``CommandFailure`` with the code `unavailable`.
    func open(
        at site: SiteName, reportingTo callers: Set<CallerID>, _ logger: Logger? = nil, mustExist: Bool = false,
        isDaemon: Bool = false,
        adoptsTerm: Bool = true
    ) async throws -> any ClosableStore {
        do {
            return try await opened(
                at: site, reportingTo: callers, logger, mustExist: mustExist, isDaemon: isDaemon, adoptsTerm: adoptsTerm
            )
        } catch let failure as StoreFailure {
            throw CommandFailure(.unavailable, "\(failure)")
        }
    }

    /// The same for whoever looks at why it could not be opened.
    ///
    /// - Throws: ``StoreFailure``, or ``CommandFailure`` with the code `unavailable` where a file has to be there.
    func opened(
        at site: SiteName, reportingTo callers: Set<CallerID>, _ logger: Logger? = nil, mustExist: Bool = false,
        isDaemon: Bool = false,
        adoptsTerm: Bool = true
    ) async throws -> any ClosableStore {
        switch self {
        case .sqlite(let path, let retention):
            guard !mustExist || FileManager.default.fileExists(atPath: path) else {
                throw CommandFailure(.unavailable, "there is no database at \(path) yet")
            }
            var options = SQLiteStoreConfiguration()
            options.retention = retention
            (options.site, options.reportsTo) = (site, callers)
            options.isDaemon = isDaemon
            if let logger { options.logger = logger }
            return try SQLiteStore(path: path, configuration: options)
        case .postgres(var options):
            if let logger { options.logger = logger }
            (options.site, options.reportsTo) = (site, callers)
            options.adoptsTerm = adoptsTerm
            options.readsStandby = true
            return try await PostgresStore(options)
        }
    }
}
