import Foundation
import Logging
import Metrics
import PaymentCore
import Reconciler
import ServiceLifecycle
import UnixSignals

/// Reads tokens, passwords and certificates anew when their files change, or at SIGHUP: a Secret of Kubernetes is
/// replaced in the files that pods see, and a pod that kept the old one would go on until it is revoked, and fail then.
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
        secrets.certificates.record()
        let state = State(configuration)
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    while await pause(interval) { await look(state) }
                }
                group.addTask {
                    for await _ in await UnixSignalsSequence(trapping: .sighup) { await readAnew(state) }
                }
            }
        }
    }

    /// What tells that a file is another one, or was written.
    private struct Stamp: Equatable, Sendable {
        private let file: String
        private let numbers: [Int]?
        private let written: Date?

        init(_ path: String) {
            // A Secret of Kubernetes is a link to a link, which is replaced.
            file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
            let found = try? FileManager.default.attributesOfItem(atPath: file)
            numbers = found.map { found in
                [.systemNumber, .systemFileNumber, .size].map { (found[$0] as? NSNumber)?.intValue ?? 0 }
            }
            written = found?[.modificationDate] as? Date
        }
    }

    /// What was read last. One reading after the other: an older one never takes the place of a newer one.
    private actor State {
        private var configuration: Configuration
        private var stamps: [String: Stamp]

        init(_ configuration: Configuration) {
            self.configuration = configuration
            stamps = State.stamps(configuration.files)
        }

        static func stamps(_ files: [String]) -> [String: Stamp] {
            Dictionary(files.map { ($0, Stamp($0)) }, uniquingKeysWith: { first, _ in first })
        }

        /// The files as they are; `nil` if they are as they were when they were read.
        func changed() -> [String: Stamp]? {
            let now = State.stamps(configuration.files)
            return now == stamps ? nil : now
        }

        /// Reads, and gives what was read to `use` with what was read before.
        func read(
            _ read: () throws -> Configuration, use: (_ old: Configuration, _ new: Configuration) throws -> [String]
        ) -> Result<[String], any Error> {
            // From before the reading: what is written meanwhile is another change.
            let before = State.stamps(configuration.files)
            do {
                let new = try read()
                let changed = try use(configuration, new)
                configuration = new
                stamps = State.stamps(new.files).merging(before) { now, before in before }
                    .filter { new.files.contains($0.key) }
                return .success(changed)
            } catch {
                stamps = before
                return .failure(error)
            }
        }
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
        guard var seen = await state.changed() else { return }
        // Not while somebody is still writing: half a token is a token as well.
        while await pause(.seconds(1)), let now = await state.changed() {
            if now == seen { return await readAnew(state) }
            seen = now
        }
    }

    private func readAnew(_ state: State) async {
        switch await state.read(read, use: { try secrets.replace($0, with: $1) }) {
        case .success(let changed):
            secrets.certificates.record()
            tell(changed)
        case .failure(let error):
            count("refused")
            let problems = (error as? ConfigurationFailure)?.problems.map { "\($0)" } ?? ["\(error)"]
            logger.error(
                "the configuration was read anew and is not used: tokens, passwords and certificates stay as they are",
                metadata: ["problems": .string(problems.joined(separator: "; "))])
        }
    }

    private func tell(_ changed: [String]) {
        count(changed.isEmpty ? "unchanged" : "replaced")
        if changed.isEmpty {
            logger.notice(
                "the configuration was read anew: no token, password or certificate is new; the rest counts at a start"
            )
        } else {
            logger.notice(
                "tokens, passwords or certificates were read anew",
                metadata: ["changed": .string(changed.joined(separator: ", "))])
        }
    }

    private func count(_ result: String) {
        Counter(label: "reconciled_configuration_reloads", dimensions: [("result", result)]).increment()
    }
}
