import Foundation
import Logging
import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Reads tokens and passwords anew when their files change, or at SIGHUP: a Secret of Kubernetes is replaced in the
/// files that pods see, and a pod that kept the old one would go on until it is revoked, and fail then.
///
/// What is read is checked as at the start. One problem, and all stays as it is.
struct SecretsService: Service {
    let secrets: LiveSecrets
    /// The configuration that the daemon was started with.
    let configuration: Configuration
    /// Reads the configuration as at the start.
    let read: @Sendable () throws -> Configuration
    let clock: any WallClock
    let logger: Logger
    /// How often the files are looked at.
    var interval: Span = .seconds(5)

    func run() async throws {
        let state = State(configuration)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while await pause(interval) { await look(state) }
                }
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) { readAnew(state) }
                }
            }
        }
    }

    /// What tells that a file is another one, or was written: `nil` if there is none.
    private struct Stamp: Equatable {
        let numbers: [Int]?

        init(_ path: String) {
            var information = stat()
            guard stat(path, &information) == 0 else {
                numbers = nil
                return
            }
            numbers = [
                Int(information.st_dev), Int(information.st_ino), Int(information.st_size),
                information.st_mtim.tv_sec, information.st_mtim.tv_nsec,
            ]
        }
    }

    private final class State: Sendable {
        let known: Mutex<(configuration: Configuration, stamps: [Stamp])>

        init(_ configuration: Configuration) {
            known = Mutex((configuration, configuration.files.map(Stamp.init)))
        }

        var configuration: Configuration { known.withLock { $0.configuration } }
    }

    /// Whether it may go on.
    private func pause(_ time: Span) async -> Bool {
        do {
            try await clock.sleep(until: clock.now() + time)
            return !Task.isCancelled
        } catch {
            return false
        }
    }

    private func look(_ state: State) async {
        var stamps = state.configuration.files.map(Stamp.init)
        guard stamps != state.known.withLock({ $0.stamps }) else { return }
        // Not while somebody is still writing: half a token is a token as well.
        while await pause(.seconds(1)) {
            let now = state.configuration.files.map(Stamp.init)
            if now == stamps { return readAnew(state) }
            stamps = now
        }
    }

    private func readAnew(_ state: State) {
        let old = state.configuration
        let stamps = old.files.map(Stamp.init)
        do {
            let new = try read()
            let changed = try secrets.replace(old, with: new)
            state.known.withLock { $0 = (new, new.files.map(Stamp.init)) }
            tell(changed)
        } catch {
            state.known.withLock { $0.stamps = stamps }
            count("refused")
            let problems = (error as? ConfigurationFailure)?.problems.map { "\($0)" } ?? ["\(error)"]
            logger.error(
                "the configuration was read anew and is not used: tokens and passwords stay as they are",
                metadata: ["problems": .string(problems.joined(separator: "; "))])
        }
    }

    private func tell(_ changed: [String]) {
        count(changed.isEmpty ? "unchanged" : "replaced")
        if changed.isEmpty {
            logger.notice(
                "the configuration was read anew: no token and no password changed; the rest counts at the next start")
        } else {
            logger.notice(
                "tokens and passwords were read anew",
                metadata: ["changed": .string(changed.joined(separator: ", "))])
        }
    }

    private func count(_ result: String) {
        Counter(label: "reconciled_configuration_reloads", dimensions: [("result", result)]).increment()
    }
}
