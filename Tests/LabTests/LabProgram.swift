import Foundation

/// A program as a process: what it printed, and how it ended.
struct LabProgram {
    let status: Int32
    /// Whether a signal ended it, and it had no word in it.
    let wasKilled: Bool
    let output: String
    let errors: String

    private struct NotThere: Error {
        let candidates: [URL]
    }

    /// Runs it to its end; one that runs for more than a minute is killed.
    /// - Parameters:
    ///   - temporary: Where it puts what it needs for a while.
    ///   - words: It is told to end (`SIGTERM`) once it has printed them.
    init(
        _ arguments: [String], of name: String = "reconciled-lab", temporary: URL,
        environment: [String: String] = [:], terminatedAfter words: String? = nil
    ) async throws {
        // The build puts the program beside the test bundle.
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let candidates = [tests.deletingLastPathComponent(), Bundle.main.bundleURL].map {
            $0.appendingPathComponent(name)
        }
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) }) else {
            throw NotThere(candidates: candidates)
        }
        let files = ["output", "errors"].map { temporary.appendingPathComponent($0) }
        for file in files { try Data().write(to: file) }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(["TMPDIR": temporary.path]) { $1 }
            .merging(environment) { $1 }
        process.standardOutput = try FileHandle(forWritingTo: files[0])
        process.standardError = try FileHandle(forWritingTo: files[1])
        try process.run()
        if let words {
            try await waitUntilEnded(process) { try String(contentsOf: files[0], encoding: .utf8).contains(words) }
            process.terminate()
        }
        try await waitUntilEnded(process)
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        (status, wasKilled) = (process.terminationStatus, process.terminationReason == .uncaughtSignal)
        output = try String(contentsOf: files[0], encoding: .utf8)
        errors = try String(contentsOf: files[1], encoding: .utf8)
    }

    /// The words of the line that begins with this one.
    func line(_ first: String) -> [Substring]? {
        output.split(separator: "\n").map { $0.split(separator: " ") }.first { $0.first == Substring(first) }
    }
}

/// Lends a directory that is there for one test.
func inDirectory(_ body: (URL) async throws -> Void) async throws {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent("lab-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    try await body(directory)
}
