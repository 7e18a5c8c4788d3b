import Foundation
import Logging
import OperationsConsole
import PaymentCore
import PostgresStore
import ProgramEdge
import Reconciler
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Opens the store that a daemon works on, and waits for a database that cannot be reached yet.
///
/// A process that ends instead is started again ever later by whoever watches it, up to minutes after the database is
/// back. So it stays: alive, not ready, and saying for what it waits. It ends for what no waiting mends: the database
/// refuses its password, or holds a schema of another program.
struct StoreOpening: Sendable {
    /// The store, and the identity that it has.
    struct Opened: Sendable {
        let store: any ClosableStore
        let identity: StoreID?
    }

    let configuration: Configuration
    let operators: OperatorDirectory
    let registry: MetricsRegistry
    let logger: Logger
    /// How long it waits between two tries.
    var pause: Span = .seconds(1)

    /// Opens the store; `nil` if the process was told to stop before it could.
    ///
    /// - Throws: ``CommandFailure`` with the code `unavailable` for what waiting does not mend.
    func open() async throws -> Opened? {
        switch try await attempt() {
        case .opened(let opened): return opened
        case .waits(let failure): return try await wait(for: failure)
        }
    }

    private enum Attempt {
        case opened(Opened)
        case waits(StoreFailure)
    }

    private func attempt() async throws -> Attempt {
        do {
            let store = try await configuration.store.opened(
                at: configuration.site.name, reportingTo: configuration.reportedCallers, logger, isDaemon: true,
                adoptsTerm: false)
            do throws(StoreFailure) {
                return .opened(Opened(store: store, identity: try await store.siteReading().store))
            } catch {
                await close(store)
                throw error
            }
        } catch let failure as StoreFailure {
            guard configuration.store.mayHeal(failure) else { throw CommandFailure(.unavailable, "\(failure)") }
            return .waits(failure)
        }
    }

    private func close(_ store: any ClosableStore) async {
        do {
            try await store.close()
        } catch {
            logger.warning("the store did not close", metadata: ["error": "\(error)"])
        }
    }

    /// Serves the operators' listener meanwhile, with what holds it up.
    private func wait(for first: StoreFailure) async throws -> Opened? {
        let waiting = Waiting(first, logger)
        var limits = AdminLimits()
        limits.maximumConnections = configuration.admin.maximumConnections
        let reason = HealthCheck("store") { .fail("waits for the database: \(waiting.failure)") }
        let api = AdminAPI(
            progress: ProgressMonitor(),
            checks: ProbeChecks(readiness: [reason], startup: [reason], activity: [reason]), metrics: registry,
            operators: operators,
            reads: .unavailable { waiting.failure }, descriptions: .shipped, limits: limits, logger: logger)
        let listener = api.application(host: configuration.admin.host, port: configuration.admin.port)
        let tries = Tries(opening: self, waiting: waiting)
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [
                    .init(service: listener),
                    .init(
                        service: tries, successTerminationBehavior: .gracefullyShutdownGroup,
                        failureTerminationBehavior: .gracefullyShutdownGroup),
                ],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: logger.withoutInternals))
        try await group.run()
        let opened = waiting.opened
        logger.info(opened == nil ? "stops while it waits for the database" : "the database can be reached")
        return opened
    }

    /// Tries until the store is open, or the process is told to stop.
    private struct Tries: Service {
        let opening: StoreOpening
        let waiting: Waiting

        func run() async throws {
            try await cancelWhenGracefulShutdown {
                let clock = SystemClock()
                while !Task.isCancelled {
                    do {
                        try await clock.sleep(until: clock.now() + opening.pause)
                    } catch {
                        return
                    }
                    switch try await opening.attempt() {
                    case .opened(let opened):
                        // A try takes seconds, and cannot be broken off. Whoever was told to stop during one stops.
                        guard !Task.isCancelled else { return await opening.close(opened.store) }
                        return waiting.ends(opened)
                    case .waits(let failure): waiting.goesOn(failure)
                    }
                }
            }
        }
    }

    /// What is waited for, and what came of it.
    private final class Waiting: Sendable {
        private struct State {
            var failure: StoreFailure
            var opened: Opened?
            var told: (cause: String, at: ContinuousClock.Instant)?
        }

        private let state: Mutex<State>
        private let logger: Logger

        init(_ failure: StoreFailure, _ logger: Logger) {
            state = Mutex(State(failure: failure))
            self.logger = logger
            goesOn(failure)
        }

        var failure: StoreFailure { state.withLock { $0.failure } }
        var opened: Opened? { state.withLock { $0.opened } }

        func ends(_ opened: Opened) { state.withLock { $0.opened = opened } }

        /// Told at once where the cause is another one, else every half minute.
        func goesOn(_ failure: StoreFailure) {
            let isTold = state.withLock { state in
                state.failure = failure
                if let told = state.told, told.cause == failure.cause, .now - told.at < .seconds(30) { return false }
                state.told = (failure.cause, .now)
                return true
            }
            guard isTold else { return }
            logger.warning("waits for the database", metadata: ["error": "\(failure)"])
        }
    }
}

extension StoreSettings {
    /// Whether a database that could not be opened may be as it has to be a while later, without a change of the
    /// configuration: it is started, promoted or migrated by somebody else. A file is there or is not.
    func mayHeal(_ failure: StoreFailure) -> Bool {
        guard case .postgres = self, !PostgresStore.refusesPassword(failure) else { return false }
        // Migrations are run by a job of their own, beside the daemons that wait for it. It may have ended since: what
        // is pending now says nothing of the failure.
        return failure.isPassing || PostgresStore.lacksMigrations(failure)
    }
}
