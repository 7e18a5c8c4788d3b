import HTTPTransport
import PaymentCore
import ProviderSimulator
import Providers
import Reconciler
import Testing

/// The listing of the provider simulator, over real sockets, as the comparison reads it.
@Suite(.serialized)
struct SimulatorListingTests {
    private static let hour: Int64 = 3_600_000

    private func listing(
        _ name: String, _ port: Int, _ sender: CurlSender, _ contract: ProviderContract = .reference,
        longestWait: Duration = .seconds(5)
    ) throws -> any ListingProvider {
        let settings = ProviderSettings(
            name: try ProviderName(name), address: try ProviderAddress("http://127.0.0.1:\(port)/\(name)"),
            contract: contract, tokens: ReplaceableToken(BearerToken("good-token")), longestWait: longestWait)
        let assembly = ProviderAssembly(sender: sender, connections: 64, clock: StandingClock(), logger: .silent)
        return try #require(try assembly.assemble([settings]).values.first?.provider.listing)
    }

    private func bulk(_ count: Int) -> BulkOrder {
        var order = BulkOrder(count: count)
        order.fromMs = 1_700_000_000_000
        return order
    }

    private func window(_ order: BulkOrder, from: Int64 = 0, to: Int64 = hour) throws -> ComparedWindow {
        let start = order.fromMs ?? 0
        return try #require(
            ComparedWindow(from: Timestamp(milliseconds: start + from), to: Timestamp(milliseconds: start + to)))
    }

    private func read(_ listing: any ListingProvider, _ window: ComparedWindow, limit: Int) async throws
        -> [ListedPosition]
    {
        var positions: [ListedPosition] = []
        var cursor: String?
        repeat {
            let page = try await listing.list(ListingOrder(window: window, cursor: cursor, limit: limit))
            #expect(page.positions.count <= limit)
            positions += page.positions
            cursor = page.next
        } while cursor != nil
        return positions
    }

    @Test
    func `bulk transactions are named as the daemon names the same payments`() throws {
        var order = bulk(10)
        order.refundedEvery = 1
        let caller = try CallerID(order.caller)
        for number in [0, 3, 9] {
            let made = order.transaction(number)
            let operation = try IdempotencyKey(made.idempotencyKey)
            let payment = PaymentID(caller: caller, key: operation)
            func key(_ effect: EffectKind, _ operation: IdempotencyKey) -> String {
                let source = EffectKey.Source(
                    caller: caller, payment: payment, operation: operation, leg: 0, effect: effect)
                return EffectKey(source, format: .hex40).text
            }
            #expect(made.payment == payment.text)
            #expect(made.key == key(.authorize, operation))
            #expect(made.captureKey == key(.capture, operation))
            let refund = try #require(made.refund)
            #expect(refund.key == key(.refund, try IdempotencyKey(refund.idempotencyKey)))
            var sale = order
            sale.onePhase = true
            #expect(sale.transaction(number).key == key(.sale, operation))
        }
    }

    @Test
    func `pages add up to the window, each transaction once and in order`() async throws {
        try await withSimulator { port, control, sender in
            let order = bulk(2_345)
            _ = try await control.create(order, at: "card")
            let listing = try listing("card", port, sender)
            let all = try await read(listing, try window(order), limit: 1_000)
            #expect(all.count == 2_345)
            #expect(all.map(\.key.text) == (0..<2_345).map { order.transaction($0).key })
            #expect(all.allSatisfy { $0.leg == 0 && $0.contradiction == nil && $0.captured == $0.amount })
            #expect(all.map(\.payment?.text) == (0..<2_345).map { order.transaction($0).payment })
            let half = Self.hour / 2
            let first = try await read(listing, try window(order, to: half), limit: 500)
            let second = try await read(listing, try window(order, from: half), limit: 77)
            #expect(first + second == all)
        }
    }

    @Test
    func `every planted difference shows in the listing as it was planted`() async throws {
        try await withSimulator { port, control, sender in
            var order = BulkOrder(count: 300)
            (order.heldEvery, order.refundedEvery) = (5, 3)
            order = try await control.create(order, at: "card").order
            let end = try #require(order.fromMs) + Self.hour
            for kind in PlantKind.allCases {
                var plant = PlantOrder(kind, count: 3, seed: 11)
                plant.atMs = end - 1
                _ = try await control.plant(plant, at: "card")
            }
            let listing = try listing("card", port, sender)
            let shown = try await read(listing, try window(order), limit: 64)
            let byKey = Dictionary(uniqueKeysWithValues: shown.map { ($0.key.text, $0) })
            let planted = try await control.planted(at: "card")
            #expect(planted.count == 3 * PlantKind.allCases.count)
            for one in planted {
                let position = byKey[one.key]
                guard one.plant != .hidden, one.plant != .forgotten else {
                    #expect(position == nil, "\(one)")
                    continue
                }
                #expect(position?.status.rawValue == one.after?.status.rawValue, "\(one)")
                #expect(position?.amount?.value == one.after?.amount?.value, "\(one)")
                #expect(position?.amount?.currency.code == one.after?.amount?.currency, "\(one)")
                #expect(position?.captured?.value == one.after?.captured, "\(one)")
                #expect(position?.refunded?.value == one.after?.refunded, "\(one)")
                #expect(position?.payment?.text == one.payment && position?.leg.map { String($0) } == one.leg, "\(one)")
                #expect(position?.updatedAt?.milliseconds == one.after?.updatedAt && position?.contradiction == nil)
            }
            let touched = Set(planted.flatMap { [$0.key, $0.original ?? ""] })
            // An orphan and a foreign transaction are new, and touch none.
            let touching = PlantKind.allCases.count - 2
            #expect(shown.filter { !touched.contains($0.key.text) }.count == 300 - touching * 3)
            for position in shown where !touched.contains(position.key.text) {
                #expect(position.updatedAt.map { $0 < Timestamp(milliseconds: end) } == true)
            }
        }
    }

    @Test
    func `a listing goes on after the simulator refused or broke a page`() async throws {
        try await withSimulator { port, control, sender in
            let order = bulk(10)
            _ = try await control.create(order, at: "card")
            let listing = try listing("card", port, sender)
            let wanted = ListingOrder(window: try window(order), limit: 4)
            let first = try await listing.list(wanted)
            var next = wanted
            next.cursor = first.next
            let faults: [(FaultKind, ListingFailure.Kind)] = [
                (.throttled, .passing), (.truncated, .passing), (.requestLost, .passing), (.html, .malformed),
                (.missingStatus, .malformed), (.errorAfter, .passing),
            ]
            for (fault, kind) in faults {
                try control.order(FaultOrder(Fault(fault), operation: .list), at: "card")
                let failure = await #expect(throws: ListingFailure.self) { try await listing.list(next) }
                #expect(failure?.kind == kind, "\(fault)")
                if fault == .throttled { #expect(failure?.retryAt == StandingClock.noon + .seconds(1)) }
            }
            let second = try await listing.list(next)
            #expect(second.positions.map(\.key.text) == (4..<8).map { order.transaction($0).key })
        }
    }

    @Test
    func `a listing keeps within the provider's rate`() async throws {
        try await withSimulator { port, control, sender in
            let order = bulk(10)
            _ = try await control.create(order, at: "card")
            var contract = ProviderContract.reference
            contract.requestsPerSecond = 1
            let listing = try listing("card", port, sender, contract, longestWait: .milliseconds(50))
            let wanted = ListingOrder(window: try window(order), limit: 4)
            _ = try await listing.list(wanted)
            let failure = await #expect(throws: ListingFailure.self) { try await listing.list(wanted) }
            #expect(failure == ListingFailure(.passing, code: "budget_exhausted"))
            #expect(try await control.journal("card", operation: .list).count == 1)
        }
    }
}
