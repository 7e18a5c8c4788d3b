import Logging
import MemoryStore
import PaymentCore
import Reconciler
import Testing

/// An empty store and the one payment that a caller asks for: what tests of the engine begin with.
struct OnePayment {
    let card: ProviderName
    let caller: CallerID
    let key: IdempotencyKey
    let amount: Money
    let clock = MachineClock()
    let store: MemoryStore

    init() throws {
        card = try ProviderName("card")
        caller = try CallerID("shop")
        key = try IdempotencyKey("create-1")
        amount = try Money(1_200, #require(Currency(code: "JPY")))
        let clock = clock
        store = MemoryStore(clock: { clock.now() })
    }

    var id: PaymentID { PaymentID(caller: caller, key: key) }

    func request(_ mode: CaptureMode = .automatic) throws -> CreateRequest {
        try CreateRequest(
            caller: caller, key: key, amount: amount,
            legs: [.init(provider: card, instrument: Instrument(token: "tok_1234"), amount: amount)],
            captureMode: mode, contracts: [card: .reference])
    }

    /// Settings of an engine that does not wait long between two looks.
    func settings(holder: String = "worker") throws -> EngineSettings {
        var settings = EngineSettings(holder: holder)
        settings.policy.inquirySchedule = try DelaySchedule([.milliseconds(20)])
        settings.sweep.longestPause = .milliseconds(50)
        return settings
    }

    func engine(
        _ provider: any PaymentProvider, _ settings: EngineSettings, logger: Logger = Logger(label: "test")
    ) -> SettlementEngine {
        SettlementEngine(
            store: store, providers: [provider], clock: clock, jitter: NoJitter(), settings: settings, logger: logger)
    }
}
