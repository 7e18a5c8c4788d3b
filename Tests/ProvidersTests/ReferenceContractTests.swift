import HTTPTransport
import PaymentCore
import ProviderSimulator
import Reconciler
import Testing

@testable import Providers

/// The reference adapter before a real socket.
@Suite(.serialized)
struct ReferenceContractTests {
    @Test(arguments: ContractCase.all(with: SuiteWire.reference.traits))
    func `the reference adapter keeps the contract`(contractCase: ContractCase) async throws {
        try await SimulatorSubject.run { try await contractCase.check($0) }
    }

    @Test func `the whole suite is asked of it, and of every wire that can hold each kind of change`() {
        #expect(ContractCase.all(with: SuiteWire.reference.traits).map(\.name) == ContractCase.all.map(\.name))
        #expect(Set(ContractCase.all.map(\.name)).count == ContractCase.all.count)
        for wire in [SuiteWire.reference, .stripe, .payPay] {
            #expect(
                wire.traits.changes.map(\.steps.last) == [.authorize, .capture, .void, .refund], "\(wire.adapter.name)")
        }
    }

    @Test
    func `a slow provider does not hold up another`() async throws {
        try await withSimulator { port, control, sender in
            let providers = try assembled(["card", "points"], port, sender, concurrency: 2)
            let card = try #require(providers["card"]?.provider)
            let points = try #require(providers["points"]?.provider)
            var slow = Fault(.slow)
            slow.delayMs = 1_500
            try control.order(FaultOrder(slow, times: 8), at: "card")
            let order = await withTaskGroup(of: String.self) { group in
                for _ in 0..<6 {
                    group.addTask { await Self.ask(card, "card") }
                    group.addTask { await Self.ask(points, "points") }
                }
                return await group.reduce(into: [String]()) { $0.append($1) }
            }
            #expect(order.prefix(6).allSatisfy { $0 == "points" }, "\(order)")
        }
    }

    @Test
    func `the same effect is never twice on the wire`() async throws {
        try await withSimulator { port, control, sender in
            let card = try #require(try assembled(["card"], port, sender)["card"]?.provider)
            var slow = Fault(.slow)
            slow.delayMs = 1_500
            try control.order(FaultOrder(slow), at: "card")
            let order = try OrderBook().send(.authorize)
            async let one = card.send(order)
            async let other = card.send(order)
            let reports = await [one, other].sorted { $0.outcome < $1.outcome }
            #expect(reports.map(\.outcome) == [.unsent, .accepted])
            #expect(reports.first?.code == "duplicate_in_flight")
            #expect(try await control.journal("card").count == 1)
        }
    }

    private static func ask(_ provider: any PaymentProvider, _ name: String) async -> String {
        do {
            let known = try await provider.inquire(OrderBook().inquiry())
            return known.status == .notFound ? name : "\(name) \(known.reason ?? "")"
        } catch {
            return "\(error)"
        }
    }

    private func assembled(
        _ names: [String], _ port: Int, _ sender: CurlSender, concurrency: Int = 16
    ) throws -> [String: ProviderAssembly.Assembled] {
        let settings = try names.map { name in
            var contract = ProviderContract.reference
            contract.concurrency = concurrency
            return ProviderSettings(
                name: try ProviderName(name), address: try ProviderAddress("http://127.0.0.1:\(port)/\(name)"),
                contract: contract, tokens: ReplaceableToken(BearerToken("good-token")))
        }
        let assembly = ProviderAssembly(sender: sender, connections: 64, clock: StandingClock(), logger: .silent)
        let assembled = try assembly.assemble(settings)
        return Dictionary(uniqueKeysWithValues: assembled.map { ($0.key.name, $0.value) })
    }
}
