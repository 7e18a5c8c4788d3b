import Foundation
import ProgramOutput

/// The real daemon, as a user starts it.
final class DaemonProcess: Sendable {
    private let process = Process()
    private let output: ProgramOutput

    struct NotStarted: Error, CustomStringConvertible {
        let description: String
    }

    init(
        configuration: URL, log: URL, failpoint: String? = nil, descriptors: DescriptorLimit? = nil,
        with more: [String: String] = [:], without variables: [String] = []
    ) throws {
        output = try ProgramOutput()
        let program = try DaemonProcess.program()
        let arguments = ["serve", "--config", configuration.path]
        if let descriptors {
            // The shell becomes the daemon, under the limit that it set.
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", "\(descriptors.command) && exec \"$0\" \"$@\"", program.path] + arguments
        } else {
            process.executableURL = program
            process.arguments = arguments
        }
        var environment = DaemonProcess.environment
        environment["RECONCILED_FAILPOINT"] = failpoint
        environment["SWIFT_BACKTRACE"] = "enable=no"
        environment.merge(more) { $1 }
        for variable in variables { environment[variable] = nil }
        process.environment = environment
        if !FileManager.default.fileExists(atPath: log.path) {
            _ = FileManager.default.createFile(atPath: log.path, contents: nil)
        }
        let errors = try FileHandle(forWritingTo: log)
        try errors.seekToEnd()
        process.standardError = errors
        process.standardOutput = output.handle
        try process.run()
    }

    /// Ours without settings of another daemon, and with the tokens of the simulated providers.
    static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("RECONCILED_") }
        for provider in ["CARD", "POINTS", "BALANCE"] {
            environment["RECONCILED_PROVIDERS_\(provider)_TOKEN"] = "provider-key:token:merchant"
        }
        return environment
    }

    /// The build puts the programs beside the test bundle.
    static func program(_ names: [String] = ["reconciled", "ReconcileDaemon"]) throws -> URL {
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let directories = [tests.deletingLastPathComponent(), Bundle.main.bundleURL]
        let candidates = directories.flatMap { directory in names.map { directory.appendingPathComponent($0) } }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw NotStarted(description: "no program among \(candidates.map(\.path))")
        }
        return found
    }

    var isRunning: Bool { process.isRunning }

    /// The most memory that it ever had, in bytes.
    func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        guard let number = line?.split(whereSeparator: { !$0.isNumber }).first, let kilobytes = Int(number) else {
            throw NotStarted(description: "no VmHWM: \(status)")
        }
        return kilobytes << 10
    }

    /// How it ended, for messages; nil while it runs.
    var end: String? {
        guard !process.isRunning else { return nil }
        return "\(process.terminationReason == .uncaughtSignal ? "signal" : "status") \(process.terminationStatus)"
    }

    /// Waits for the line that says where it listens.
    func ready() async throws -> (api: Int, admin: Int) {
        try await Polling.until("the daemon says that it is ready") {
            output.text.contains("\n") || !process.isRunning
        }
        let line = output.text
        let ports = line.split { !$0.isNumber }.compactMap { Int($0) }
        guard line.hasPrefix("reconciled is ready"), ports.count == 2 else {
            throw NotStarted(description: "the daemon did not start: \(line)")
        }
        return (ports[0], ports[1])
    }

    func kill() {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Stops the process where it is: its connections stay open, and it notices nothing.
    func freeze() { _ = Foundation.kill(process.processIdentifier, SIGSTOP) }

    /// Tells it that its files are others, as `kill -HUP` does.
    func hangUp() { _ = Foundation.kill(process.processIdentifier, SIGHUP) }

    /// Lets it go on from there.
    func thaw() { _ = Foundation.kill(process.processIdentifier, SIGCONT) }

    func terminate() async throws -> Int32 {
        process.terminate()
        try await Polling.until("the daemon ends", within: .seconds(30)) { !process.isRunning }
        return process.terminationStatus
    }
}
