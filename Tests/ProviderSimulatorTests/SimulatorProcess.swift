import Foundation
import ProgramOutput

/// The program under test as a child process.
final class SimulatorProcess: Sendable {
    let process = Process()
    private let standardOutput: ProgramOutput
    private let standardError: ProgramOutput
    private let ended: AsyncStream<Int32>

    init(_ arguments: [String], environment: [String: String] = [:]) throws {
        // The build puts the program beside the test bundle, under its product's or its target's name.
        let tests = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let directories = [tests.deletingLastPathComponent(), Bundle.main.bundleURL]
        let candidates = directories.flatMap { directory in
            ["provider-simulator", "ProviderSimulatorProgram"].map { directory.appendingPathComponent($0) }
        }
        guard let program = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0.path) })
        else {
            throw SocketFailure(step: "find the program", code: ENOENT)
        }
        (standardOutput, standardError) = (try ProgramOutput(), try ProgramOutput())
        let (ended, ending) = AsyncStream.makeStream(of: Int32.self)
        self.ended = ended
        process.executableURL = program
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardOutput = standardOutput.handle
        process.standardError = standardError.handle
        process.terminationHandler = { process in
            ending.yield(process.terminationStatus)
            ending.finish()
        }
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// The line that it prints when it accepts requests.
    var announcement: String {
        output().split(separator: "\n").first.map(String.init) ?? ""
    }

    func port() async throws -> Int {
        guard try await becomesTrue({ output().contains("\n") }),
            let field = announcement.split(separator: " ").first(where: { $0.hasPrefix("port=") }),
            let port = Int(field.dropFirst("port=".count))
        else { throw SocketFailure(step: "wait for the program", code: ETIMEDOUT) }
        return port
    }

    /// Waits until it has ended.
    func end() async throws -> Int32 {
        var status: Int32 = -1
        for await reported in ended { status = reported }
        return status
    }

    /// Ends it as an operator does.
    func stop() async throws -> Int32 {
        process.terminate()
        return try await end()
    }

    func output() -> String { standardOutput.text }
    func errors() -> String { standardError.text }
}
