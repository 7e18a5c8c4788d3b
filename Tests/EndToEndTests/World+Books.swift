import Foundation
import HTTPTransport
import ProgramOutput
import ProviderSimulator
import Testing

extension World {
    /// The daemon's books and the providers' ledgers, compared: what was taken less what was given back, what is
    /// held, and
    /// that nothing was charged twice.
    func expectBooksAgree(_ client: APIClient, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let payments = try await client.send(.get, "/v1/payments?limit=200").json["data"] as? [[String: Any]] ?? []
        #expect(!payments.isEmpty, "there is at least one payment", sourceLocation: sourceLocation)
        for name in simulator.providers {
            let legs = payments.flatMap { $0["legs"] as? [[String: Any]] ?? [] }
                .filter { $0["provider"] as? String == name }
            let ours = legs.map { Self.value($0["captured"]) - Self.value($0["refunded"]) }.reduce(0, +)
            let held = legs.filter { $0["state"] as? String == "authorized" }.map { Self.value($0["amount"]) }
                .reduce(0, +)
            let ledger = try await simulator.ledger(name)
            let theirs = ledger.transactions.map(\.net).reduce(0, +)
            #expect(ours == theirs, "\(name): ours \(ours), theirs \(theirs)", sourceLocation: sourceLocation)
            let theirHeld = ledger.transactions.map(\.held).reduce(0, +)
            #expect(held == theirHeld, "\(name): held \(held), theirs \(theirHeld)", sourceLocation: sourceLocation)
            #expect(ledger.chargedTwice.isEmpty, "\(name) charged twice", sourceLocation: sourceLocation)
        }
    }

    private static func value(_ money: Any?) -> Int64 {
        ((money as? [String: Any])?["value"] as? NSNumber)?.int64Value ?? 0
    }

    /// How often the daemon itself sent something.
    func sends(_ operation: ProviderSimulator.Operation, to provider: String) async throws -> Int {
        try await simulator.journal(provider, operation: operation, limit: 10_000).count { $0.origin == .client }
    }

    /// Runs a command of the same binary on the daemon's configuration, or another. No thread waits for its end:
    /// the servers that it asks may be in this process, and there are only as many threads as cores.
    func command(
        _ arguments: [String], configuration other: URL? = nil
    ) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = try DaemonProcess.program()
        process.arguments = arguments + ["--config", (other ?? configuration).path]
        process.environment = DaemonProcess.environment
        let output = try ProgramOutput()
        process.standardOutput = output.handle
        process.standardError = output.handle
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        process.terminationHandler = { _ in end.finish() }
        try process.run()
        for await _ in ends {}
        if process.isRunning {
            // The test was cancelled.
            process.terminate()
            process.waitUntilExit()
        }
        return (process.terminationStatus, output.text)
    }
}
