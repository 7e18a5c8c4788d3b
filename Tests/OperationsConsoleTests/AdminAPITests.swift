import CoreMetrics
import PaymentCore
import ServiceLifecycle
import Synchronization
import Testing

@testable import OperationsConsole

struct AdminAPITests {
    @Test func `probes pass without checks, and answer nothing else`() async throws {
        try await RunningAdmin.run { admin in
            for probe in ["livez", "readyz", "startupz", "activez"] {
                let answer = try await admin.get("/\(probe)")
                #expect(answer.status == 200)
                #expect(answer.text == #"{"status":"pass"}"#)
                #expect(answer.headers["content-type"] == "application/json")
                #expect(answer.headers["cache-control"] == "no-store")
                let verbose = try await admin.get("/\(probe)?verbose")
                #expect(verbose.text == #"{"checks":[],"status":"pass"}"#)
            }
        }
    }

    @Test func `a failing check fails its probe alone and is named with its reason`() async throws {
        let readiness = [
            HealthCheck("store") { .fail("No commit for 12 s.") }, HealthCheck("settle") { .pass },
        ]
        let lease = HealthCheck("lease") { .pass }
        try await RunningAdmin.run(readiness: readiness, activity: [lease]) { admin in
            let plain = try await admin.get("/readyz")
            #expect(plain.status == 503)
            #expect(plain.text == #"{"status":"fail"}"#)
            for query in ["verbose", "verbose=", "verbose=true", "verbose=1", "a=b&verbose"] {
                let answer = try await admin.get("/readyz?\(query)")
                #expect(answer.status == 503)
                #expect(
                    answer.text == """
                        {"checks":[{"name":"store","reason":"No commit for 12 s.","status":"fail"},\
                        {"name":"settle","reason":null,"status":"pass"}],"status":"fail"}
                        """)
            }
            #expect(try await admin.get("/readyz?verbose=0").text == #"{"status":"fail"}"#)
            #expect(try await admin.get("/activez").status == 200)
            #expect(try await admin.get("/startupz").status == 200)
            #expect(try await admin.get("/livez").status == 200)
        }
    }

    @Test func `a check that hangs costs the time limit and is started once`() async throws {
        var limits = AdminLimits()
        limits.checkTimeout = .milliseconds(700)
        limits.checkFreshness = .zero
        let starts = Mutex(0)
        let gate = TurnStile()
        let readiness = [
            HealthCheck("hangs") {
                starts.withLock { $0 += 1 }
                await gate.pass()
                return .pass
            },
            HealthCheck("works") { .pass },
        ]
        try await RunningAdmin.run(readiness: readiness, limits: limits) { admin in
            let works = #"{"name":"works","reason":null,"status":"pass"}"#
            for _ in 0..<2 {
                let answer = try await admin.get("/readyz?verbose")
                #expect(answer.status == 503)
                #expect(
                    answer.text.contains(
                        #"{"name":"hangs","reason":"No answer within 700 ms.","status":"fail"}"#))
            }
            // However busy the machine is: the check that works is not held up by the one that hangs.
            try await poll { try await admin.get("/readyz?verbose").text.contains(works) }
            #expect(starts.withLock { $0 } == 1)
            gate.open()
            try await poll { try await admin.get("/readyz").status == 200 }
        }
    }

    @Test func `checks run at the same time, and a result is given again for a moment`() async throws {
        var limits = AdminLimits()
        limits.checkFreshness = .seconds(3_600)
        let meeting = Mutex(0)
        let runs = Mutex(0)
        let checks = (0..<4).map { number in
            HealthCheck("check \(number)") {
                runs.withLock { $0 += 1 }
                meeting.withLock { $0 += 1 }
                do {
                    // Passes only if all four are under way at once.
                    try await poll { meeting.withLock { $0 } == 4 }
                    return .pass
                } catch {
                    return .fail("alone")
                }
            }
        }
        try await RunningAdmin.run(startup: checks, limits: limits) { admin in
            for _ in 0..<3 {
                let answer = try await admin.get("/startupz")
                #expect(answer.status == 200)
            }
            #expect(runs.withLock { $0 } == 4)
        }
    }

    @Test func `liveness follows the loops' beats and asks no check`() async throws {
        let asked = Mutex(false)
        let clock = Mutex(ContinuousClock.now)
        let progress = ProgressMonitor { clock.withLock { $0 } }
        let runner = progress.watch("runner", maximumSilence: .seconds(10))
        let sweep = progress.watch("sweep", maximumSilence: .seconds(60))
        let check = HealthCheck("store") {
            asked.withLock { $0 = true }
            return .pass
        }
        try await RunningAdmin.run(progress: progress, readiness: [check]) { admin in
            clock.withLock { $0 += .seconds(10) }
            #expect(try await admin.get("/livez").status == 200)
            clock.withLock { $0 += .seconds(5) }
            let silent = try await admin.get("/livez?verbose")
            #expect(silent.status == 503)
            let runnerIsSilent = #"{"name":"runner","reason":"No progress for 15 s.","status":"fail"}"#
            #expect(silent.text.contains(runnerIsSilent))
            #expect(silent.text.contains(#"{"name":"sweep","reason":null,"status":"pass"}"#))
            runner.beat()
            #expect(try await admin.get("/livez").status == 200)
            clock.withLock { $0 += .seconds(50) }
            runner.end()
            sweep.end()
            #expect(try await admin.get("/livez?verbose").text == #"{"checks":[],"status":"pass"}"#)
            #expect(!asked.withLock { $0 })
        }
    }

    @Test func `metrics are OpenMetrics text`() async throws {
        let registry = MetricsRegistry()
        Counter(label: "reconciled_x", dimensions: [("a", "b\"")], factory: registry).increment()
        try await RunningAdmin.run(metrics: registry) { admin in
            let answer = try await admin.get("/metrics")
            #expect(answer.status == 200)
            #expect(
                answer.headers["content-type"]
                    == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(try OpenMetricsReader(answer.text).value("reconciled_x_total", ["a": "b\""]) == 1)
        }
    }

    @Test func `payments need an operator's token`() async throws {
        try await RunningAdmin.run { admin in
            for token in [nil, "wrong", "hana-token-000"] {
                for target in ["/v1/payments", "/v1/payments/p", "/v1/site"] {
                    let answer = try await admin.get(target, token: token)
                    #expect(answer.status == 401)
                    #expect(answer.headers["www-authenticate"] == "Bearer")
                    #expect(answer.headers["content-type"] == "application/problem+json")
                    #expect(answer.text.contains(#""type":"/problems/unauthorized""#))
                }
            }
            let list = try await admin.get("/v1/payments?state=failed", token: RunningAdmin.token)
            #expect(list.status == 200 && list.text == "list state=failed")
            #expect(try await admin.get("/v1/payments", token: RunningAdmin.token).text == "list -")
            #expect(try await admin.get("/v1/payments/p1", token: RunningAdmin.token).text == "payment p1")
            #expect(try await admin.get("/v1/payments/missing", token: RunningAdmin.token).status == 404)
            let events = try await admin.get("/v1/payments/p1/events?limit=2", token: RunningAdmin.token)
            #expect(events.text == "events p1 limit=2")
        }
    }

    @Test func `other routes are 404 and other methods 405`() async throws {
        try await RunningAdmin.run { admin in
            for target in [
                "/", "/livez/x", "/v2", "/console/", "/v1", "/v1/site", "/v1/payments/",
                "/v1/payments/p/capture", "/v1/payments/p/events/1", "/v1/discrepancies/d/proposals",
            ] {
                let answer = try await admin.get(target, token: RunningAdmin.token)
                #expect(answer.status == 404, "\(target)")
                #expect(answer.text.contains(#""type":"/problems/not-found""#))
            }
            for target in ["/livez", "/metrics", "/v1/payments"] {
                let answer = try await admin.send("DELETE", target, token: RunningAdmin.token)
                #expect(answer.status == 405)
                #expect(answer.headers["allow"] == "GET, HEAD")
            }
        }
    }

    @Test func `the listener and its checks end when they are shut down`() async throws {
        let (ports, announcement) = AsyncStream.makeStream(of: Int.self)
        let admin = try RunningAdmin.admin(readiness: [HealthCheck("store") { .pass }])
        let services = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [admin.application(host: "127.0.0.1", port: 0) { announcement.yield($0) }],
                logger: RunningAdmin.quiet))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            var iterator = ports.makeAsyncIterator()
            let running = RunningAdmin(port: try #require(await iterator.next()))
            #expect(try await running.get("/readyz").status == 200)
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
        }
    }

    @Test func `a token belongs to one person`() throws {
        let digest = Digest(of: ["any"])
        #expect(throws: OperatorDirectory.AmbiguousToken(operators: ["hana", "ken"])) {
            _ = try OperatorDirectory([(Operator("hana", .viewer), digest), (Operator("ken", .viewer), digest)])
        }
    }
}
