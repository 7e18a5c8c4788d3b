import HTTPTransport
import PaymentCore
import ProviderSimulator
import Reconciler

@testable import Providers

/// A wire that the suite is run over: the adapter for it, and what of the suite is asked of it.
struct SuiteWire: Sendable {
    let adapter: ProviderAdapter
    /// The contract of `main`.
    let twoPhase: ProviderContract
    let onePhase: ProviderContract
    let traits: Set<SuiteTrait>
    /// How the provider simulator plays it; `nil` where a fake of its own does.
    var simulated: ProviderConfiguration.Wire?
    /// What the provider takes, and what it does not.
    var tokens = (good: "good-token", bad: "bad-token")
    /// Whether the adapter's clock runs, from noon on and with the simulator's: what is signed is good for two minutes
    /// only, and a busy machine may take longer than that for a test.
    var clockRuns = false

    static let reference = SuiteWire(
        adapter: .reference, twoPhase: .reference, onePhase: .referenceSale, traits: Set(SuiteTrait.allCases),
        simulated: .reference)

    static let stripe: SuiteWire = {
        let hold = ProviderContract.stripeWire
        var sale = hold
        sale.phases = .sale
        return SuiteWire(
            adapter: .stripe, twoPhase: hold, onePhase: sale,
            traits: SuiteTrait.ofFakes.union([
                .holds, .voids, .tombstones, .conflictingKeys, .voidsShowTransactions, .lists,
            ]), simulated: .stripe)
    }()

    static let payPay: SuiteWire = {
        var hold = ProviderContract.payPay
        hold.phases = .authorizeCapture
        return SuiteWire(
            adapter: .payPay, twoPhase: hold, onePhase: .payPay,
            traits: SuiteTrait.ofFakes.union([
                .holds, .voids, .voidOfNothing, .errorsNotStored, .pendingCaptures,
            ]), simulated: .paypay,
            tokens: (good: "key-1:secret-1:merchant-1", bad: "key-1:secret-2:merchant-1"), clockRuns: true)
    }()

    /// Nothing of the suite is asked of it, because it cannot be asked.
    static let adyen = SuiteWire(
        adapter: .adyen, twoPhase: .adyen, onePhase: .adyen, traits: [], simulated: .adyen,
        tokens: (good: "TestMerchant:AQEyhmfxK+key==-x5zN:with.colon", bad: "TestMerchant:other"))

    /// The adapter of a provider of this wire on this machine, over real sockets.
    ///
    /// - Parameters:
    ///   - token: by default one that the provider takes.
    ///   - firstByte: how long it waits for an answer.
    func provider(
        _ name: String, _ contract: ProviderContract, token: String? = nil, firstByte: Duration = .seconds(8),
        clock: any WallClock = StandingClock(), port: Int, sender: CurlSender
    ) throws -> any PaymentProvider {
        var contract = contract
        contract.requestsPerSecond = 1_000
        return try provider(
            name, contract, token: token ?? tokens.good, firstByte: firstByte, clock: clock,
            at: "http://127.0.0.1:\(port)/\(name)", sender: sender)
    }

    /// The adapter of a provider of this wire.
    func provider(
        _ name: String, _ contract: ProviderContract, token: String, firstByte: Duration = .seconds(8),
        clock: any WallClock, at url: String, sender: any HTTPSender
    ) throws -> any PaymentProvider {
        let settings = ProviderSettings(
            name: try ProviderName(name), adapter: adapter, address: try ProviderAddress(url), contract: contract,
            tokens: ReplaceableToken(BearerToken(token)), limits: TimeLimits(firstByte: firstByte))
        let assembly = ProviderAssembly(sender: sender, connections: 64, clock: clock, logger: .silent)
        guard let assembled = try assembly.assemble([settings]).values.first else { throw WrongFixture() }
        return assembled.provider
    }
}
