import Foundation
import ProgramEdge

/// A program of this build that runs as a process of its own.
final class ChildProgram: Sendable {
    private let process: Process
    private let log: URL
    /// For messages.
    let name: String

    /// Starts it; what it prints goes to the end of `log`.
    init(_ program: URL, _ arguments: [String], environment: [String: String], log: URL) throws {
        name = program.lastPathComponent
        self.log = log
        let files = FileManager.default
        if !files.fileExists(atPath: log.path) { _ = files.createFile(atPath: log.path, contents: nil) }
        let output = try FileHandle(forWritingTo: log)
        try output.seekToEnd()
        process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        do {
            try process.run()
        } catch {
            throw CommandFailure(.unavailable, "cannot start \(program.path): \(error.localizedDescription)")
        }
    }

    var isRunning: Bool { process.isRunning }

    /// SIGKILL: no handler runs, nothing is flushed.
    func kill() async {
        _ = Foundation.kill(process.processIdentifier, SIGKILL)
        while process.isRunning { await Pause.uninterrupted(milliseconds: 1) }
    }

    /// Asks it to end, and kills it if it does not within ten seconds.
    func stop() async {
        guard process.isRunning else { return }
        process.terminate()
        for _ in 0..<1_000 {
            guard process.isRunning else { return }
            await Pause.uninterrupted(milliseconds: 10)
        }
        await kill()
    }

    /// Waits until it has ended by itself; kills it if the task is cancelled.
    /// - Returns: its exit status.
    func end() async throws -> Int32 {
        while process.isRunning {
            if Task.isCancelled { await kill() }
            await Pause.uninterrupted(milliseconds: 5)
        }
        try Task.checkCancellation()
        return process.terminationStatus
    }

    /// The last lines of its log, for a person who must know why it ended.
    func lastWords(lines: Int = 8) -> String {
        do {
            let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
            return text.split(separator: "\n").suffix(lines).joined(separator: "\n")
        } catch {
            return "(its log cannot be read: \(error.localizedDescription))"
        }
    }

    /// A program that the build puts beside this one; `option` names another.
    static func sibling(_ name: String, option: String) throws -> URL {
        guard let path = Bundle.main.executablePath else {
            throw CommandFailure(.unavailable, "the path of this program cannot be found")
        }
        let own = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let program = own.deletingLastPathComponent().appendingPathComponent(name)
        guard FileManager.default.isExecutableFile(atPath: program.path) else {
            throw CommandFailure(
                .unavailable, "\(program.path) is not there; build it with 'swift build', or name it with --\(option)")
        }
        return program
    }
}

/// A wait that goes on although the task is cancelled: for what must be done before the end.
enum Pause {
    static func uninterrupted(milliseconds: Int) async {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(milliseconds)) {
                continuation.resume()
            }
        }
    }
}
