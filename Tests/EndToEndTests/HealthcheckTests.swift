import Testing

/// The health check of a container: the same program asks the daemon beside it.
@Suite struct HealthcheckTests {
    @Test func `each probe of a running daemon says yes`() async throws {
        try await World.run { world, client in
            for probe in ["livez", "readyz", "startupz", "activez"] {
                let asked = try await world.command([
                    "healthcheck", "--probe", probe, "--port", String(client.adminPort),
                ])
                #expect(asked.status == 0, "\(asked.output)")
                #expect(asked.output.contains("pass"), "\(asked.output)")
            }
        }
    }

    @Test func `another answer than yes is a finding`() async throws {
        try await World.run { world, client in
            // The callers' listener knows no probes.
            let asked = try await world.command(["healthcheck", "--port", String(client.port)])
            #expect(asked.status == 1)
            #expect(asked.output.contains("livez at http://127.0.0.1:\(client.port) answered 404"), "\(asked.output)")
        }
    }

    @Test func `a daemon that hangs or is gone is unavailable, within the time limit`() async throws {
        try await World.run { world, client in
            let question = ["healthcheck", "--port", String(client.adminPort), "--timeout", "1"]
            await world.daemon(0)?.freeze()
            let begin = ContinuousClock.now
            let hung = try await world.command(question)
            #expect(hung.status == 3)
            #expect(hung.output.contains("Timeout"), "\(hung.output)")
            #expect(ContinuousClock.now - begin < .seconds(10))
            await world.kill()
            let gone = try await world.command(question)
            #expect(gone.status == 3)
            #expect(gone.output.contains("did not answer"), "\(gone.output)")
        }
    }

    @Test func `a port that is left to the system must be named`() async throws {
        try await World.run { world, _ in
            let asked = try await world.command(["healthcheck"])
            #expect(asked.status == 2)
            #expect(asked.output.contains("the operators' port is '0'; allowed: 1 to 65535"), "\(asked.output)")
        }
    }
}
