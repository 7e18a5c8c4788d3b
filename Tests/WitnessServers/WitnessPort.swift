internal import Hummingbird
internal import Logging

/// Serves for as long as a test needs it.
enum WitnessPort {
    /// Runs a router on a port of its own while the body runs.
    static func run(
        _ router: Router<BasicRequestContext>, _ body: @Sendable (_ url: String) async throws -> Void
    ) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "witness-server")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in port.yield(channel.localAddress?.port ?? 0) }, logger: logger)
        let task = Task { try await application.run() }
        defer { task.cancel() }
        var first = ports.makeAsyncIterator()
        let number = await first.next() ?? 0
        try await body("http://127.0.0.1:\(number)")
    }
}
