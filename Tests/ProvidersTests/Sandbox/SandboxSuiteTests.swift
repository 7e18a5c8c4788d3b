import HTTPTransport
import PaymentCore
import ProviderSimulator
import Providers
import Testing

/// What runs before a sandbox, tried before the simulator: it is reached by an address and a key alone, as a sandbox
/// is.
@Suite(.serialized)
struct SandboxSuiteTests {
    private static let asked = SandboxKind.all.flatMap { kind in
        kind.cases(hasDeclined: true).map { AskedOfSandbox(kind: kind, contractCase: $0) }
    }

    private static func environment(_ kind: SandboxKind, port: Int) -> [String: String] {
        let path = kind.canBeAsked ? "" : "/v71"
        let shopper = kind.canBeAsked ? "" : "shopper-1:"
        return [
            "TOKEN": kind.wire.tokens.good, "URL": "http://127.0.0.1:\(port)/card\(path)",
            "INSTRUMENT": "\(shopper)tok-0001", "DECLINED_INSTRUMENT": "\(shopper)decline-0001",
        ].reduce(into: [:]) { $0[Sandbox.variable(kind, $1.key)] = $1.value }
    }

    private static func run(_ asked: AskedOfSandbox) async throws {
        var kind = asked.kind
        // As the simulator names it.
        kind.unknown = kind.canBeAsked ? "unknown-0001" : "shopper-1:unknown-0001"
        var card = ProviderConfiguration("card", wire: try #require(kind.wire.simulated), token: kind.wire.tokens.good)
        if !kind.canBeAsked {
            card.notificationKey = "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"
        }
        let server = try ProviderSimulatorServer(SimulatorConfiguration(providers: [card]), logger: .silent)
        try await server.whileRunning { port in
            let sandbox = try Sandbox(kind, environment(kind, port: port))
            try await SandboxSubject.run(sandbox) { try await asked.contractCase.check($0) }
        }
    }

    @Test(arguments: asked)
    func `what is asked of a sandbox is kept where the provider keeps it`(asked: AskedOfSandbox) async throws {
        try await Self.run(asked)
    }

    @Test func `most of the suite is asked of a sandbox; what is left out needs a provider that obeys`() {
        for kind in SandboxKind.all where kind.canBeAsked {
            let asked = Set(kind.cases(hasDeclined: true).map(\.name))
            let leftOut = Set(ContractCase.all(with: kind.wire.traits).map(\.name)).subtracting(asked)
            var expected: Set = [
                "undecided is accepted as undecided, and is decided later",
                "another amount is accepted and shown as it is", "a stale read shows the state before",
                "a declined capture leaves the hold, a declined refund the charge",
                "a void of something undecided is tried again later",
            ]
            if kind.name != "stripe" { expected.insert("an undecided capture is accepted as undecided") }
            if kind.name == "reference" { expected.insert("a void that leaves nothing behind is no tombstone") }
            #expect(leftOut == expected, "\(kind.name)")
        }
        #expect(Set(SandboxKind.all.map(\.name)).isSubset(of: ProviderAdapter.all.map(\.name)))
    }

    // MARK: What the environment says

    @Test func `a key for real money is refused, and so is an address for it`() throws {
        func problem(_ kind: SandboxKind, _ values: [String: String]) -> Sandbox.Problem? {
            do {
                _ = try Sandbox(kind, values.reduce(into: [:]) { $0[Sandbox.variable(kind, $1.key)] = $1.value })
                return nil
            } catch {
                return error
            }
        }
        let real = problem(.stripe, ["TOKEN": "sk_live_4711"])
        let said = "RECONCILED_SANDBOX_STRIPE_TOKEN must be a key that begins with sk_test_ or rk_test_"
        #expect("\(try #require(real))" == said)
        #expect(problem(.stripe, ["TOKEN": "sk_test_4711"]) == nil)
        #expect(problem(.stripe, ["TOKEN": "sk_test_1", "URL": "http://api.stripe.com"]) != nil)
        let token = "key:secret:merchant"
        #expect(problem(.payPay, ["TOKEN": token])?.variable == "RECONCILED_SANDBOX_PAYPAY_INSTRUMENT")
        #expect(problem(.payPay, ["TOKEN": token, "INSTRUMENT": "user"]) == nil)
        #expect(problem(.payPay, ["TOKEN": "no-parts", "INSTRUMENT": "user"]) != nil)
        let live = ["TOKEN": token, "INSTRUMENT": "user", "URL": "https://apigw.paypay.ne.jp"]
        #expect(problem(.payPay, live)?.allowed == "an address with sandbox in it")
        let adyen = ["TOKEN": "Merchant:key", "INSTRUMENT": "shopper:card"]
        #expect(problem(.adyen, adyen) == nil)
        let production = adyen.merging(["URL": "https://x-checkout-live.adyenpayments.com/checkout/v71"]) { $1 }
        #expect(problem(.adyen, production) != nil)
        #expect(problem(.reference, ["TOKEN": "t"])?.variable == "RECONCILED_SANDBOX_REFERENCE_URL")
    }

    @Test func `a sandbox is named by its token alone`() {
        #expect(Sandbox.isNamed(.stripe, in: ["RECONCILED_SANDBOX_STRIPE_TOKEN": "sk_test_1"]))
        #expect(!Sandbox.isNamed(.stripe, in: ["RECONCILED_SANDBOX_STRIPE_TOKEN": ""]))
        #expect(!Sandbox.isNamed(.adyen, in: ["RECONCILED_SANDBOX_STRIPE_TOKEN": "sk_test_1"]))
    }
}
