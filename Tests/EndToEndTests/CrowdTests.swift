import Testing

/// Whoever has no token can neither end the daemon, nor fill it, nor keep callers and probes out.
@Suite struct CrowdTests {
    /// Asks the probes and both kinds of callers in turn, each on a new connection, and requires that they are answered
    /// as on a quiet day.
    private func expectService(_ world: World, _ client: APIClient, _ when: String, rounds: Int = 10) async throws {
        var slow: [String] = []
        for _ in 0..<rounds {
            for (path, isAdmin, token, expected) in [
                ("/livez", true, nil, 200), ("/readyz", true, nil, 200), ("/v1/payments", false, nil, 401),
                ("/v1/payments", false, World.callerToken, 200),
            ] {
                let port = isAdmin ? client.adminPort : client.port
                let reply = try await Socket.ask(path, port: port, token: token)
                #expect(reply.status == expected, "\(when): \(path) after \(reply.took)")
                if reply.took > .seconds(1) { slow.append("\(path) \(reply.took)") }
            }
        }
        // A test machine may be busy for a moment; a listener that is held up is so for every question.
        #expect(slow.count <= rounds, "\(when): answers that took longer than a second: \(slow)")
        #expect(await world.daemon(0)?.end == nil, "\(when): the daemon ended")
    }

    private func connections(_ client: APIClient) async throws -> Double {
        try await client.metric("reconciled_http_connections{listener=\"callers\"}")
    }

    @Test(arguments: [DescriptorLimit.soft(1_024), .hard(1_024)])
    func `more idle connections than descriptors`(_ limit: DescriptorLimit) async throws {
        var settings = WorldSettings()
        (settings.descriptors, settings.places) = (limit, Places.shared.count)
        try await World.run(settings) { world, client in
            let crowd = try await Crowd.come(1_400, port: client.port)
            try await expectService(world, client, "1,400 idle connections")
            let paid = try await client.create(Bodies.card(), key: "crowd-1")
            #expect(paid.state == "succeeded", "\(paid.text)")
            // Operators see how many are there, and how many had to go.
            let ended = "reconciled_http_connections_ended_total{listener=\"callers\",reason=\"full\"}"
            let (open, gone) = (try await connections(client), try await client.metric(ended))
            #expect(open + gone >= 1_400 && open > 100, "\(open) are there, \(gone) had to go")
            if case .hard = limit { #expect(gone > 0) }
            crowd.leave()
            try await Polling.until("their connections are closed") { try await connections(client) < 20 }
            try await expectService(world, client, "after they left", rounds: 1)
        }
    }

    @Test(arguments: ["/v1/payments"])
    func `400 connections that ask and never read`(_ path: String) async throws {
        var settings = WorldSettings()
        (settings.places, settings.logLevel) = (Places.shared.count, "info")
        try await World.run(settings) { world, client in
            try await expectService(world, client, "before", rounds: 1)
            let before = try await world.peakMemory()
            let port = path.hasPrefix("/v1") ? client.port : client.adminPort
            let crowd = try await Crowd.come(400, port: port, receiveBuffer: 4_096)
            let request = "GET \(path) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer none\r\n\r\n"
            let requests = Array(String(repeating: request, count: 2_000).utf8)
            async let taken = crowd.push(requests, for: .seconds(4))
            try await expectService(world, client, "400 that ask for \(path) and read nothing")
            _ = await taken
            let more = try await world.peakMemory() - before
            #expect(more < 128 << 20, "\(path): \(more >> 20) MiB more")
            crowd.leave()
        }
    }

    @Test func `idle connections on the operators' listener`() async throws {
        var settings = WorldSettings()
        settings.places = Places.shared.count
        try await World.run(settings) { world, client in
            let crowd = try await Crowd.come(300, port: client.adminPort)
            try await expectService(world, client, "300 idle connections on the operators' listener")
            crowd.leave()
        }
    }
}
