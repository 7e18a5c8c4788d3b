import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Synchronization
import Testing
import VirtualTime

@testable import StoreContract

@Suite struct WebhookCourierTests {
    /// An endpoint that answers as it is told, and remembers what it was sent.
    private actor Endpoint: WebhookEndpoint {
        private(set) var delivered: [Payment] = []
        private(set) var atOnce = 0
        private(set) var mostAtOnce = 0
        private var answers: [CallerID: WebhookAnswer] = [:]
        private var held: Set<CallerID> = []
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func answer(_ caller: CallerID, _ answer: WebhookAnswer) { answers[caller] = answer }

        /// Lets deliveries to a caller wait until they are let go.
        func hold(_ caller: CallerID) { held.insert(caller) }

        func letGo() {
            held.removeAll()
            for one in waiting { one.resume() }
            waiting.removeAll()
        }

        var waitingCount: Int { waiting.count }

        func deliver(_ payment: Payment) async -> WebhookAnswer {
            delivered.append(payment)
            atOnce += 1
            mostAtOnce = max(mostAtOnce, atOnce)
            if held.contains(payment.caller) { await withCheckedContinuation { waiting.append($0) } }
            atOnce -= 1
            return answers[payment.caller] ?? .status(200)
        }
    }

    private struct Stage {
        let clock = VirtualClock(at: ManualClock.start)
        let machineClock = ManualClock()
        let store: MemoryStore
        let endpoint = Endpoint()
        let shop: CallerID
        let kiosk: CallerID
        let mayWork = Flag(true)

        init() async throws {
            let clock = clock
            store = MemoryStore(clock: { clock.now() })
            (shop, kiosk) = (try CallerID("shop"), try CallerID("kiosk"))
            await store.report(to: [shop, kiosk])
        }

        func payment(_ key: String, of caller: String = "shop", _ mode: CaptureMode = .automatic) async throws -> Work {
            var order = Scenario.Order(key)
            (order.caller, order.capture) = (caller, mode)
            let work = try await Scenario(store: store, clock: machineClock).settle(order)
            clock.advance(by: .seconds(1))
            return work
        }

        func state(_ work: Work) async throws -> Webhook? { try await store.webhook(of: work.payment.id) }

        /// Runs a courier beside a story. Time goes on by itself, a second at each look.
        func courier(_ story: () async throws -> Void) async throws {
            let courier = WebhookCourier(
                store: store, endpoint: endpoint, callers: [kiosk, shop], mayWork: { mayWork.ask() },
                clock: clock, logger: Logger(label: "test"))
            let running = Task { await courier.run() }
            defer { running.cancel() }
            try await story()
            running.cancel()
            await endpoint.letGo()
            await running.value
        }

        /// Lets time go on until something is true.
        func until(_ what: String, _ condition: () async throws -> Bool) async throws {
            try await Polling.until(what) {
                if try await condition() { return true }
                if !clock.sleeping.isEmpty { clock.advance(by: .seconds(1)) }
                return false
            }
        }
    }

    @Test func `what is raised is delivered once, as the payment is then`() async throws {
        let stage = try await Stage()
        let work = try await stage.payment("a")
        try await stage.courier {
            try await stage.until("delivered") { try await stage.state(work)?.state == .delivered }
            let before = stage.clock.now()
            try await stage.until("some looks later") { stage.clock.now() > before + .seconds(5) }
        }
        let stored = try await stage.store.payment(work.payment.id)
        #expect(await stage.endpoint.delivered == [try #require(stored)])
    }

    @Test func `a webhook that was not accepted is tried again after its pause`() async throws {
        let stage = try await Stage()
        let work = try await stage.payment("a")
        await stage.endpoint.answer(stage.shop, .status(500))
        try await stage.courier {
            try await stage.until("tried twice") { try await stage.state(work)?.attempts == 2 }
            await stage.endpoint.answer(stage.shop, .status(204))
            try await stage.until("delivered") { try await stage.state(work)?.state == .delivered }
        }
        #expect(await stage.endpoint.delivered.count == 3)
    }

    @Test func `a caller whose endpoint does not answer delays nobody else`() async throws {
        let stage = try await Stage()
        for index in 0..<20 { _ = try await stage.payment("s\(index)") }
        let other = try await stage.payment("k", of: "kiosk")
        await stage.endpoint.hold(stage.shop)
        try await stage.courier {
            try await stage.until("the other's") { try await stage.state(other)?.state == .delivered }
            try await stage.until("the slow one's") { await stage.endpoint.waitingCount > 0 }
            let later = try await stage.payment("k2", of: "kiosk")
            try await stage.until("another of the other's") { try await stage.state(later)?.state == .delivered }
        }
        #expect(await stage.endpoint.mostAtOnce <= WebhookCourier.Settings().concurrency + 1)
    }

    /// A state on the way would be the last word of a payment that comes back to where it was.
    @Test func `a payment that is under way again is not sent before it rests`() async throws {
        let stage = try await Stage()
        var work = try await stage.payment("a", .manual)
        let scenario = Scenario(store: stage.store, clock: stage.machineClock)
        let actions = try work.machine.capture(
            key: IdempotencyKey("capture-1"), amounts: nil, try scenario.context())
        try await scenario.save(&work)
        #expect(work.payment.state == .processing)
        try await stage.courier {
            let before = stage.clock.now()
            try await stage.until("it was looked at") {
                try await stage.state(work)?.dueAt.map { $0 >= before + .minutes(50) } ?? false
            }
            #expect(await stage.endpoint.delivered.isEmpty)
            #expect(try await stage.state(work)?.attempts == 0)
            stage.machineClock.advance(by: stage.clock.now() - stage.machineClock.now())
            try await scenario.answer(&work, actions)
            try await stage.until("delivered") { try await stage.state(work)?.state == .delivered }
        }
        #expect(await stage.endpoint.delivered.map(\.state) == [.succeeded])
    }

    @Test func `a process that stops counts no failure of an endpoint that has not answered`() async throws {
        let stage = try await Stage()
        let work = try await stage.payment("a")
        await stage.endpoint.hold(stage.shop)
        await stage.endpoint.answer(stage.shop, .none(code: "cancelled"))
        try await stage.courier {
            try await stage.until("it is on the wire") { await stage.endpoint.waitingCount == 1 }
        }
        #expect(try await stage.state(work)?.attempts == 0)
        #expect(try await stage.state(work)?.state == .waiting)
    }

    @Test func `a delivery that could not be written is made again once its lease ends`() async throws {
        let stage = try await Stage()
        let work = try await stage.payment("a")
        await stage.store.failNext(.unavailable, on: .settleWebhook)
        try await stage.courier {
            try await stage.until("sent") { await stage.endpoint.delivered.count == 1 }
            let sent = stage.clock.now()
            try await stage.until("delivered") { try await stage.state(work)?.state == .delivered }
            #expect(stage.clock.now() >= sent + WebhookCourier.Settings().lease + (Span.zero - .seconds(2)))
        }
        #expect(await stage.endpoint.delivered.count == 2)
    }

    /// The process may have stood still since the claim, and another site may act by now.
    @Test func `a site that lost its right after the claim sends nothing, and counts no attempt`() async throws {
        let stage = try await Stage()
        let work = try await stage.payment("a")
        // It is asked for what is due, for the claim, and last before the payment leaves.
        stage.mayWork.turns(after: 2)
        try await stage.courier {
            try await stage.until("it was asked last") { stage.mayWork.asked > 2 }
            let before = stage.clock.now()
            try await stage.until("some looks later") { stage.clock.now() > before + .seconds(5) }
        }
        #expect(await stage.endpoint.delivered.isEmpty)
        #expect(try await stage.state(work)?.state == .waiting)
        #expect(try await stage.state(work)?.attempts == 0)
    }

    @Test func `a site that may not act delivers nothing until it may`() async throws {
        let stage = try await Stage()
        let work = try await stage.payment("a")
        stage.mayWork.value = false
        try await stage.courier {
            let before = stage.clock.now()
            try await stage.until("some looks later") { stage.clock.now() > before + .seconds(5) }
            #expect(await stage.endpoint.delivered.isEmpty)
            stage.mayWork.value = true
            try await stage.until("delivered") { try await stage.state(work)?.state == .delivered }
        }
    }
}

/// A flag that a test changes while others read it.
private final class Flag: Sendable {
    private struct State {
        var value: Bool
        var asked = 0
        var turnsAfter = Int.max
    }

    private let state: Mutex<State>

    init(_ value: Bool) { state = Mutex(State(value: value)) }

    var value: Bool {
        get { state.withLock { $0.value } }
        set { state.withLock { $0.value = newValue } }
    }

    /// How often somebody asked.
    var asked: Int { state.withLock { $0.asked } }

    /// It is false once it was asked so often.
    func turns(after count: Int) { state.withLock { $0.turnsAfter = count } }

    func ask() -> Bool {
        state.withLock { state in
            state.asked += 1
            return state.value && state.asked <= state.turnsAfter
        }
    }
}
