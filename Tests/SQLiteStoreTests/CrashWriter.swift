internal import Foundation
internal import Testing

/// The program `SQLiteCrashWriter`, which creates payments and prints the id of each that was acknowledged.
final class CrashWriter {
    private let process = Process()
    private let output = Pipe()
    private var rest = Data()

    init(path: String) throws {
        process.executableURL = CrashWriter.program()
        process.arguments = [path]
        process.standardOutput = output
        try process.run()
    }

    /// The program is built beside the tests.
    ///
    /// - Returns: `nil` if it is not there; the process then cannot be run.
    private static func program() -> URL? {
        let directories =
            [Bundle.main.bundleURL, Bundle.main.executableURL?.deletingLastPathComponent()]
            + Bundle.allBundles.map { $0.bundleURL.deletingLastPathComponent() }
        return directories.compactMap { $0?.appendingPathComponent("SQLiteCrashWriter") }
            .first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// Reads until so many payments were acknowledged; each read waits for the writer.
    func acknowledged(atLeast count: Int) throws -> [String] {
        var lines: [String] = []
        while lines.count < count {
            let data = output.fileHandleForReading.availableData
            try #require(!data.isEmpty, "the writer ended by itself")
            lines += take(data)
        }
        return lines
    }

    /// Kills the writer at once and reads what it had printed.
    func killAndReadRest() -> [String] {
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(process.terminationReason == .uncaughtSignal)
        return take(output.fileHandleForReading.readDataToEndOfFile())
    }

    /// The whole lines so far; what follows the last line break is kept.
    private func take(_ data: Data) -> [String] {
        rest += data
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = rest[..<end].split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
        rest = Data(rest[rest.index(after: end)...])
        return lines
    }
}
