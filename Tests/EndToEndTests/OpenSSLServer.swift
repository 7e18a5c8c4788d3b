import Foundation
import PostgresServers

/// OpenSSL's own server, in a process of its own: it answers nothing, and writes what it hears.
final class OpenSSLServer {
    private let process = Process()
    private let said: URL
    let port: Int

    /// A server with this certificate; all that is in `directory` is its own.
    /// - Parameter options: Further words of `openssl s_server`.
    init(_ certificate: String, key: String, _ options: [String] = [], in directory: URL) throws {
        port = try FreePort.next()
        said = directory.appendingPathComponent("server.log")
        _ = FileManager.default.createFile(atPath: said.path, contents: nil)
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["openssl", "s_server", "-accept", "\(port)", "-cert", certificate, "-key", key] + options
        process.standardOutput = try FileHandle(forWritingTo: said)
        process.standardError = FileHandle.nullDevice
        // It ends with its input.
        process.standardInput = Pipe()
        try process.run()
    }

    /// All that it wrote.
    var output: String {
        get throws { try String(contentsOf: said, encoding: .utf8) }
    }

    func untilItListens() async throws {
        try await Polling.until("the server listens") { try self.output.contains("ACCEPT") }
    }

    func stop() { process.end() }
}

extension Process {
    /// Ends a helper of a test. A gentler signal is ignored: helpers inherit that from this process, where services
    /// take signals by themselves.
    func end() { kill(processIdentifier, SIGKILL) }
}
