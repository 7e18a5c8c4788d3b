import HTTPTransport
import PaymentCore
import Reconciler
import Testing

/// An adapter, over real sockets and a faulty wire, before a fake of its provider.
struct FakeSubject<Service: FakeService>: ContractSubject {
    let main: any PaymentProvider
    let onePhase: any PaymentProvider
    let impatient: any PaymentProvider
    let stranger: any PaymentProvider
    let unreachable: any PaymentProvider
    let traits: Set<SuiteTrait>
    let faults: FaultyWire<Service>

    var withoutTombstones: any PaymentProvider { main }

    private init(_ wire: SuiteWire, _ faults: FaultyWire<Service>, port: Int, sender: CurlSender) throws {
        traits = wire.traits
        self.faults = faults
        main = try wire.provider("fake", wire.twoPhase, port: port, sender: sender)
        onePhase = try wire.provider("fake", wire.onePhase, port: port, sender: sender)
        impatient = try wire.provider(
            "fake", wire.twoPhase, firstByte: .milliseconds(200), port: port, sender: sender)
        stranger = try wire.provider("fake", wire.twoPhase, token: wire.tokens.bad, port: port, sender: sender)
        unreachable = try wire.provider("fake", wire.twoPhase, port: 1, sender: sender)
    }

    /// Runs a fake and the wire before it for one test.
    static func run(_ wire: SuiteWire, _ body: (FakeSubject<Service>) async throws -> Void) async throws {
        let faults = FaultyWire<Service>()
        let sender = CurlSender(configuration: CurlConfiguration(http2: false, allowPlainHTTP: true))
        try await faults.whileRunning { port in
            let result: Swift.Result<Void, any Error>
            do {
                result = .success(try await body(FakeSubject(wire, faults, port: port, sender: sender)))
            } catch {
                result = .failure(error)
            }
            await sender.shutdown(grace: .seconds(1))
            try result.get()
        }
        #expect(faults.unplayed.isEmpty, "the fake never received a request of this kind: see operation(of:)")
    }

    func suffer(_ fault: SuiteFault, on operation: SuiteOperation) { faults.suffer(fault, on: operation) }
    func books(of key: EffectKey) -> SuiteBooks { faults.service.books(of: key.text) }
    func instrument(_ behaviour: SuiteInstrument) -> String { faults.service.instrument(behaviour) }
}
