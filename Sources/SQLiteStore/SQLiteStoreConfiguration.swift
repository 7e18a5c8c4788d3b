public import Logging
public import PaymentCore

/// How a ``SQLiteStore`` works.
public struct SQLiteStoreConfiguration: Sendable {
    /// How long a write waits for another process that writes, before it fails as busy. 5 seconds.
    public var busyTimeout: Span
    /// At most so many writes share one transaction and one flush. 256.
    public var largestGroup: Int
    /// Connections that read at the same time, 1 or more. 4.
    public var readers: Int
    /// The write-ahead log is cut back to so many bytes once it was copied into the database. 64 MiB.
    public var journalLimit: Int
    /// How long comparisons remember what is settled; `nil` for ever. For ever.
    public var retention: Span?
    /// Whether this is the daemon of the file, of which there is one at a time; commands beside it are none. `false`.
    public var isDaemon: Bool
    /// The site that the file belongs to. `main`.
    public var site: SiteName
    /// Whose payments are reported by webhooks. Nobody's.
    public var reportsTo: Set<CallerID>
    /// Where the time comes from: the wall clock, unless a test brings its own. The store never lets it go backward.
    public var clock: @Sendable () -> Timestamp
    /// Hears of migrations, and of faults that no caller can be told.
    public var logger: Logger

    /// The documented defaults.
    public init() {
        busyTimeout = .seconds(5)
        largestGroup = 256
        readers = 4
        journalLimit = 64 << 20
        retention = nil
        isDaemon = false
        site = .main
        reportsTo = []
        clock = SteadyClock.wallClock
        logger = Logger(label: "reconciled.store.sqlite")
    }
}
