import Foundation
import HTTPTransport
import ProgramEdge

/// One run of the demo, from the first request to the report.
struct DemoRun: Sendable {
    let options: DemoOptions
    let directory: RunDirectory
    let site: DemoSite
    let sender: any HTTPSender
    let screen: Screen
    private let shop = Shop()

    /// How long payments may take to settle after the last request.
    private static let settleWithin = Duration.seconds(60)

    init(
        options: DemoOptions, directory: RunDirectory, site: DemoSite, sender: any HTTPSender, screen: Screen
    ) {
        self.options = options
        self.directory = directory
        self.site = site
        self.sender = sender
        self.screen = screen
    }

    private var client: CallerClient {
        CallerClient(
            sender: sender, base: "http://127.0.0.1:\(directory.publicPort)", token: directory.callerToken)
    }
    var simulator: String { "http://127.0.0.1:\(directory.simulatorPort)" }
    private var reader: SidesReader {
        SidesReader(
            client: client, sender: sender, simulator: simulator, providerToken: directory.providerToken)
    }

    /// Payments, faults, kills; then both ledgers side by side.
    func run() async throws -> DemoReport {
        showHeadline()
        try directory.write(
            seed: options.seed, faultPercent: options.faultPercent, compressed: true, adapter: options.adapter)
        try await site.start()
        try await orderQuarantines()
        let start = ContinuousClock.now
        let plans = PlannedPayment.all(count: options.payments, seed: options.seed, adapter: options.adapter)
        let progress = DemoProgress(screen: screen, total: plans.count, start: start)
        let recoveries = try await beside(courier) {
            let recoveries = try await pay(plans, progress)
            try await settle(plans, progress)
            return recoveries
        }
        let duration = ContinuousClock.now - start
        await progress.show("comparing both ledgers")
        let report = try await compare(plans, recoveries, duration)
        await progress.end(
            "\(Words.count(plans.count, "payment")) in \(Words.time(duration))"
                + recoveryWords(recoveries))
        screen.say()
        report.show(on: screen)
        showHowToGoOn()
        return report
    }

    /// Starts both programs without faults and stays until the task is cancelled.
    func stay() async throws -> DemoReport? {
        try directory.write(seed: options.seed, faultPercent: 0, compressed: false, adapter: options.adapter)
        try await site.start()
        showCurl()
        while true {
            try await Task.sleep(for: .milliseconds(500))
            try await site.checkAlive()
        }
    }

    // MARK: The way through

    /// Sends everything, and kills the daemon on the way.
    private func pay(_ plans: [PlannedPayment], _ progress: DemoProgress) async throws -> [Duration] {
        try await withThrowingTaskGroup(of: [Duration]?.self) { group in
            group.addTask {
                try await visit(plans)
                return nil
            }
            group.addTask { try await crash(total: plans.count, progress) }
            group.addTask {
                try await watch(progress, total: plans.count)
                return nil
            }
            var recoveries: [Duration] = []
            for try await result in group { recoveries += result ?? [] }
            return recoveries
        }
    }

    private func visit(_ plans: [PlannedPayment]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var rest = plans.makeIterator()
            for _ in 0..<options.concurrency {
                guard let plan = rest.next() else { break }
                group.addTask { try await Visit(plan: plan, client: client, shop: shop).walk() }
            }
            while try await group.next() != nil {
                guard let plan = rest.next() else { continue }
                group.addTask { try await Visit(plan: plan, client: client, shop: shop).walk() }
            }
        }
    }

    /// Kills the daemon each time another part of the payments is done.
    private func crash(total: Int, _ progress: DemoProgress) async throws -> [Duration] {
        var recoveries: [Duration] = []
        for kill in 0..<options.kills {
            let mark = total * (kill + 1) / (options.kills + 1)
            while await shop.visited < mark { try await Task.sleep(for: .milliseconds(5)) }
            let recovery = try await site.crashDaemon()
            recoveries.append(recovery)
            await progress.killed(ready: recovery)
        }
        return recoveries
    }

    private func watch(_ progress: DemoProgress, total: Int) async throws {
        while await shop.visited < total {
            try await site.checkAlive()
            await progress.show("\(Words.count(await shop.visited)) of \(Words.count(total, "payment"))")
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// Everything must come to rest, and customers whose patience ended come back with the same keys.
    private func settle(_ plans: [PlannedPayment], _ progress: DemoProgress) async throws {
        let end = ContinuousClock.now + DemoRun.settleWithin
        try await rest(until: end, progress)
        while ContinuousClock.now < end {
            let memories = await shop.memories
            let unfinished = plans.filter { memories[$0.reference]?.isFinished != true }
            if unfinished.isEmpty { break }
            await progress.show("\(Words.count(unfinished.count, "customer")) coming back with the same keys")
            try await visit(unfinished)
            try await rest(until: end, progress)
        }
        // A request that seemed lost may still be on its way; what it does must be seen before both sides are
        // compared.
        await progress.show("waiting for late arrivals")
        try await Task.sleep(for: .milliseconds(2 * DemoFaults.lateMs))
        try await rest(until: end, progress)
        try await site.checkAlive()
    }

    /// Waits until nothing is unsettled, or the time is over.
    private func rest(until end: ContinuousClock.Instant, _ progress: DemoProgress) async throws {
        while ContinuousClock.now < end {
            let open = try await openPayments()
            if open == 0 { return }
            await progress.show("\(Words.count(open, "payment")) still settling")
            try await Task.sleep(for: .milliseconds(300))
        }
    }

    private func openPayments() async throws -> Int {
        let unsettled =
            try await reader.payments(state: "processing").count
            + reader.payments(state: "canceling").count
        guard unsettled == 0 else { return unsettled }
        return try await reader.payments(state: "succeeded").count { !$0.isSettled }
    }

    private func compare(
        _ plans: [PlannedPayment], _ recoveries: [Duration], _ duration: Duration
    ) async throws -> DemoReport {
        let memories = await shop.memories
        let acknowledged = memories.values.filter(\.isAcknowledged).compactMap(\.id).sorted()
        let sides = try await reader.read(acknowledged: acknowledged)
        let comparison = Comparison(sides, plans: plans, memories: memories)
        await site.stopDaemon()
        var breaks = DemoFigures.brokenTrails(sides.trails)
        let check = try await site.run(
            ["payments", "verify"], log: directory.url.appendingPathComponent("reconciled.verify.log"))
        if !check.isGood { breaks.append(check.output) }
        return DemoReport(
            options: options, recoveries: recoveries, duration: duration, sides: sides, comparison: comparison,
            auditBreaks: breaks)
    }

    private func orderQuarantines() async throws {
        let orders = DemoFaults.forcingQuarantine(payments: options.payments, percent: options.faultPercent)
        for (provider, order) in orders {
            let request = HTTPRequest(
                method: .post, url: "\(simulator)/_control/\(provider.rawValue)/faults",
                fields: HTTPFields([("Content-Type", "application/json")]),
                body: [UInt8](try DemoJSON.encode(order)), label: "fault")
            let answer = try await sender.send(request)
            guard answer.status == 201 else {
                throw CommandFailure(.unavailable, "the simulator refused an order: status \(answer.status)")
            }
        }
    }

    // MARK: Words

    private func recoveryWords(_ recoveries: [Duration]) -> String {
        guard !recoveries.isEmpty else { return "" }
        let times = recoveries.map(Words.time).joined(separator: ", ")
        return "; ready again after kill -9 in \(times)"
    }

    private func showHeadline() {
        screen.say()
        screen.say(
            "  " + screen.bold(Words.count(options.payments, "payment"))
                + " of one to three legs at three providers, which answer wrong, late or not at all"
        )
        screen.say(
            "  in \(options.faultPercent) of 100 calls. The daemon is killed with kill -9 "
                + "\(Words.count(options.kills, "time")) on the way. Seed \(options.seed).")
        if let headline = options.adapter.headline { screen.say("  " + headline) }
        screen.say(
            screen.faint("  Inquiries follow a compressed schedule, by configuration: ")
                + screen.faint("after 150 ms to 2 s, where the default is 2 s to 1 day."))
        screen.say()
    }

    private func showHowToGoOn() {
        screen.say()
        screen.say(
            "  To keep a daemon running and send it payments with curl: " + screen.bold("make run")
                + screen.faint(" (or: reconciled-lab demo --stay)"))
        screen.say()
    }

    private func showCurl() {
        let base = "http://127.0.0.1:\(directory.publicPort)"
        let token = "$(cat '\(directory.tokenFile.path)')"
        screen.say()
        screen.say("  The daemon is ready at \(base), its probes at http://127.0.0.1:\(directory.adminPort)/readyz.")
        screen.say(screen.faint("  Configuration, books and logs: \(directory.url.path)"))
        screen.say()
        screen.say("  A payment of two legs; send it twice, and it is still one payment:")
        screen.say()
        screen.say(
            """
              curl -sS \(base)/v1/payments \\
                -H "Authorization: Bearer \(token)" \\
                -H 'Content-Type: application/json' -H 'Idempotency-Key: order-1' -H 'Prefer: wait=10' \\
                -d '{"amount": {"value": 1500, "currency": "JPY"}, "reference": "order-1", "legs": [
                      {"provider": "card", "instrument": "tok-1", "amount": {"value": 1200, "currency": "JPY"}},
                      {"provider": "points", "instrument": "member-1", "amount": {"value": 300, "currency": "JPY"}}]}'
            """)
        screen.say()
        screen.say("  What the daemon shows of it, and what the provider's ledger says:")
        screen.say()
        screen.say("  curl -sS '\(base)/v1/payments?reference=order-1' -H \"Authorization: Bearer \(token)\"")
        screen.say("  curl -sS '\(simulator)/_control/card/ledger?format=text'")
        screen.say()
        screen.say(screen.faint("  Ctrl-C ends both."))
    }
}

/// The line that tells how far the run is: drawn anew on a terminal, otherwise a line every five seconds.
actor DemoProgress {
    private let screen: Screen
    private let start: ContinuousClock.Instant
    private var lastLine: ContinuousClock.Instant
    private var kills = 0

    init(screen: Screen, total: Int, start: ContinuousClock.Instant) {
        self.screen = screen
        self.start = start
        lastLine = start
    }

    func show(_ text: String) {
        let now = ContinuousClock.now
        let line = "  \(Words.time(now - start))  \(text)\(kills > 0 ? ", killed \(Words.count(kills, "time"))" : "")"
        if screen.isTerminal { return screen.redraw(line) }
        guard now - lastLine >= .seconds(5) else { return }
        lastLine = now
        screen.say(line)
    }

    func killed(ready: Duration) {
        kills += 1
        screen.say("  \(Words.time(.now - start))  kill -9; ready again in \(Words.time(ready))")
    }

    func end(_ text: String) {
        screen.say("  \(text)")
    }
}
