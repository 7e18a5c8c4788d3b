import Foundation
import ProviderSimulator
import Testing

/// What the program's own options, its file and its environment come to.
@Suite struct ServeOptionTests {
    private static let rates = [FaultRate(Fault(.throttled), rate: 0.5, operations: [.authorize])]

    /// Runs a test with a configuration file.
    private func withFile(_ json: String, _ test: (String) async throws -> Void) async throws {
        try await inTemporaryDirectory { directory async throws in
            let file = directory.appendingPathComponent("serve.json")
            try Data(json.utf8).write(to: file)
            try await test(file.path)
        }
    }

    private func caller(_ port: Int, _ provider: String = "card", token: String = "any") throws -> SimulatorFixture {
        // Its control is that of another simulator and is not used: this one is a process.
        let unused = try ProviderSimulatorServer(SimulatorConfiguration(providers: [ProviderConfiguration("card")]))
        var fixture = SimulatorFixture(port: port, control: unused.control, clock: ManualClock())
        (fixture.provider, fixture.token) = (provider, token)
        return fixture
    }

    /// What thirty payments are answered.
    private func course(_ card: SimulatorFixture) async throws -> [Int?] {
        var statuses: [Int?] = []
        for number in 10..<40 { statuses.append(try await card.pay("chance-key-000\(number)").status) }
        return statuses
    }

    @Test func `an address and a port of the command win over those of the file`() async throws {
        let first = try SimulatorProcess(["serve", "--port", "0", "--providers", "card"])
        let taken = try await first.port()
        let json = #"{"host":"203.0.113.1","port":\#(taken),"providers":[{"name":"card"}]}"#
        try await withFile(json) { file in
            let second = try SimulatorProcess(["serve", "--config", file, "--host", "127.0.0.1", "--port", "0"])
            let port = try await second.port()
            #expect(port != taken)
            #expect(try await caller(port).inquire().status == 404)
            #expect(try await second.stop() == 0)
            #expect(second.errors() == "", "that it was told to end is no error")
        }
        #expect(try await first.stop() == 0)
    }

    @Test func `chance depends on the seed of the command, and without one on that of the file`() async throws {
        var courses: [[Int?]] = []
        for seed: UInt64 in [3, 2] {
            try await withSimulator(rates: Self.rates, seed: seed) { courses.append(try await course($0)) }
        }
        #expect(courses[0] != courses[1])
        let rates = #"[{"fault":"throttled","rate":0.5,"operations":["authorize"]}]"#
        try await withFile(#"{"seed":3,"providers":[{"name":"card","rates":\#(rates)}]}"#) { file in
            for (options, expected) in [([], courses[0]), (["--seed", "2"], courses[1])] {
                let program = try SimulatorProcess(["serve", "--config", file, "--port", "0"] + options)
                #expect(try await course(caller(program.port())) == expected)
                #expect(try await program.stop() == 0)
            }
        }
    }

    @Test func `a token of the environment is asked for where a provider has none of its own`() async throws {
        try await withFile(#"{"providers":[{"name":"card"},{"name":"points","token":"own"}]}"#) { file in
            let program = try SimulatorProcess(
                ["serve", "--config", file, "--port", "0"], environment: ["PROVIDER_SIMULATOR_TOKEN": "common"])
            let port = try await program.port()
            for (provider, good, bad) in [("card", "common", "other"), ("points", "own", "common")] {
                #expect(try await caller(port, provider, token: good).inquire().status == 404)
                #expect(try await caller(port, provider, token: bad).inquire().status == 401)
            }
            let open = try SimulatorProcess(
                ["serve", "--config", file, "--port", "0"], environment: ["PROVIDER_SIMULATOR_TOKEN": ""])
            #expect(try await caller(open.port(), token: "other").inquire().status == 404)
            for served in [program, open] { #expect(try await served.stop() == 0) }
        }
    }

    @Test(.enabled(if: OtherAddress.own != nil, "this machine has no address but the loopback"))
    func `the control API is for this machine, unless others are let in`() async throws {
        let address = try #require(OtherAddress.own)
        for (options, status) in [([], 404), (["--allow-remote-control"], 200)] {
            let program = try SimulatorProcess(
                ["serve", "--port", "0", "--host", "0.0.0.0", "--providers", "card"] + options)
            let port = try await program.port()
            #expect(try await caller(port).request("GET", "/_control/health").status == 200)
            #expect(try await OtherAddress.status(address, port, "/_control/health") == status)
            #expect(try await program.stop() == 0)
        }
    }

    @Test func `the same books are printed as the same JSON, with its members in order`() async throws {
        try await inTemporaryDirectory { directory async throws in
            let file = directory.appendingPathComponent("books.sqlite").path
            try await withSimulator(database: file) { card in
                _ = try await card.pay(metadata: #"{"payment":"pay/1","leg":"0"}"#)
                _ = try await card.capture()
            }
            let printed = try SimulatorProcess(["ledger", "--database", file, "--format", "json"])
            #expect(try await printed.end() == 0)
            let reports = try JSONDecoder().decode([LedgerReport].self, from: Data(printed.output().utf8))
            #expect(reports.flatMap(\.transactions).count == 1)
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            #expect(printed.output() == String(decoding: try encoder.encode(reports), as: UTF8.self) + "\n")
        }
    }
}
