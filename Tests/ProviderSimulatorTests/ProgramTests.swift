import Foundation
import ProviderSimulator
import Testing

/// The program itself, as a process: what it prints, how it ends, and what is left after it was killed.
@Suite struct ProgramTests {
    typealias F = SimulatorFixture

    @Test func `it announces its port and ends within a second of SIGTERM`() async throws {
        let program = try SimulatorProcess(["serve", "--port", "0", "--providers", "card,points"])
        let port = try await program.port()
        #expect(program.announcement.hasSuffix(" providers=card,points"))
        let connection = RawConnection(port: port, timeoutMs: 200)
        let order = #"{"fault":"slow","delay_ms":60000}"#
        let ordered = try await RawConnection(port: port).send(
            "POST /_control/card/faults HTTP/1.1\r\nHost: h\r\n"
                + "Content-Length: \(order.utf8.count)\r\n\r\n\(order)"
        )
        #expect(ordered.status == 201)
        let slow = "GET /card/transactions/\(F.key) HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer any\r\n\r\n"
        #expect(try await connection.send(slow) == .silence)
        let start = ContinuousClock.now
        program.process.terminate()
        let status = try await program.end()
        #expect(status == 0)
        #expect(ContinuousClock.now - start < .seconds(1))
    }

    @Test func `killed, it loses nothing that it answered`() async throws {
        try await inTemporaryDirectory { directory async throws in
            let file = directory.appendingPathComponent("ledger.sqlite").path
            let program = try SimulatorProcess(["serve", "--database", file, "--providers", "card"])
            let port = try await program.port()
            let body = #"{"kind":"sale","amount":{"value":10,"currency":"JPY"},"instrument":"tok_1"}"#
            for number in 10..<60 {
                let reply = try await RawConnection(port: port).send(
                    "PUT /card/transactions/killed-key-\(number)-00 HTTP/1.1\r\nHost: h\r\n"
                        + "Authorization: Bearer t\r\nContent-Type: application/json\r\n"
                        + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                )
                #expect(reply.status == 201)
            }
            kill(program.process.processIdentifier, SIGKILL)
            _ = try await program.end()
            let report = try #require(try await LedgerFile.reports(database: file).first)
            #expect(report.totals.map(\.net) == [500])
            #expect(report.requests == ["sale": 50])
            let printed = try SimulatorProcess(["ledger", "--database", file, "--summary"])
            #expect(try await printed.end() == 0)
            #expect(printed.output().contains("total JPY: charged 500, refunded 0, net 500, held 0"))
        }
    }

    @Test func `it refuses a configuration that it does not understand`() async throws {
        try await inTemporaryDirectory { directory async throws in
            let file = directory.appendingPathComponent("simulator.json")
            try Data(#"{"providers":[{"name":"card","contract":{"tombstone":true}}]}"#.utf8).write(to: file)
            let program = try SimulatorProcess(["serve", "--config", file.path])
            #expect(try await program.end() != 0)
            #expect(program.errors().contains("unknown member tombstone"))
        }
    }
}
