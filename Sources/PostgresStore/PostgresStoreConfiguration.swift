public import Logging
public import PaymentCore
public import Reconciler

/// How a ``PostgresStore`` works.
public struct PostgresStoreConfiguration: Sendable {
    /// A libpq connection string or URI: hosts, TLS, password file and service as libpq has them.
    public let dsn: String
    /// The password, unless the connection string or a password file has it.
    public var password: String?
    /// Asked for the password whenever a connection is opened, so that a new one counts without a restart. Instead of
    /// ``password``.
    public var currentPassword: (@Sendable () -> String?)?
    /// The schema in which the tables are: lower case letters, digits and `_`. `reconciled`.
    public var schema: String
    /// Connections that write changes; while one waits for its flush, another gathers the next group. 2.
    public var writers: Int
    /// Connections that claim and read; one more listens. 4.
    public var readers: Int
    /// At most so many changes share one transaction and one flush. 256.
    public var largestGroup: Int
    /// How long a round trip may take before its connection is closed. 10 seconds.
    public var timeLimit: Span
    /// How long payments that ended are kept, since their last change; `nil` for ever. For ever.
    public var retention: Span?
    /// Whose payments are reported by webhooks. Nobody's.
    public var reportsTo: Set<CallerID>
    /// This process's site, by whose terms it writes. `main`.
    public var site: SiteName
    /// Whether it writes under the site's newest term from the beginning. A daemon does not: it first proves that its
    /// site may. Yes.
    public var adoptsTerm: Bool
    /// Whether it also reads from a standby while it does not write. No.
    public var readsStandby: Bool
    /// Instead of the database's clock, for tests.
    public var clock: (@Sendable () -> Timestamp)?
    /// Hears of migrations, and of faults that no caller can be told.
    public var logger: Logger

    /// The documented defaults for a database.
    ///
    /// - Throws: ``StoreFailure`` with the code `incompatible` if libpq cannot read the connection string.
    public init(dsn: String) throws(StoreFailure) {
        if let problem = Login.problem(of: dsn) {
            throw StoreFailure(.incompatible, operation: "connect", cause: problem)
        }
        self.dsn = dsn
        password = nil
        currentPassword = nil
        schema = "reconciled"
        writers = 2
        readers = 4
        largestGroup = 256
        timeLimit = .seconds(10)
        retention = nil
        reportsTo = []
        site = .main
        adoptsTerm = true
        readsStandby = false
        clock = nil
        logger = Logger(label: "reconciled.store.postgres")
    }

    /// Whether the connection string holds a password.
    public var holdsPassword: Bool { Login.holdsPassword(dsn) }
    /// How the server shows that it is the one that is meant, by the connection string, the environment and libpq's
    /// defaults.
    public var serverTrust: ServerTrust { Login.trust(dsn) }
}

extension PostgresStoreConfiguration: CustomStringConvertible, CustomReflectable {
    /// Always the same text: it may hold a password.
    public var description: String { "PostgresStoreConfiguration(redacted)" }
    /// Empty, so that nothing that prints what it holds shows a password.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
