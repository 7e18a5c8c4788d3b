internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import MemoryStore

/// What a store tells its standby is what the store has.
@Suite struct StandbyModelTests {
    private let clock = ManualClock()
    private let answer = StoredAnswer(status: 201, contentType: "application/json", location: nil, body: [1, 2])

    @Test func `a change carries the payment, its trail and the answer that was kept with it`() async throws {
        let store = MemoryStore(clock: { [clock] in clock.now() })
        let payment = try await Scenario(store: store, clock: clock).settle(Scenario.Order("k1")).payment
        let trail = try await store.auditTrail(of: payment.id, after: 0, limit: 100)
        _ = try await store.storeAnswer(answer, caller: payment.caller, key: payment.key)
        let model = await store.model
        let change = PaymentChange(payment: payment, entries: trail, lease: .none, answer: answer)
        let row = try #require(model.changedRow(by: change))
        #expect(row.records.map(\.answer) == [answer])
        var standby = StoreModel()
        standby.apply(row)
        #expect(standby.payment(payment.id) == payment)
        #expect(standby.row(payment.id)?.trail == trail && standby.row(payment.id)?.token == row.token)
        #expect(standby.record(payment.caller, payment.key)?.answer == answer)
    }

    @Test func `a change that settles no answer carries no key but the one that asked for it`() async throws {
        let store = MemoryStore(clock: { [clock] in clock.now() })
        let payment = try await Scenario(store: store, clock: clock).create(Scenario.Order("k1")).payment
        let model = await store.model
        let silent = PaymentChange(payment: payment, entries: [], lease: .none)
        #expect(model.changedRow(by: silent)?.records.isEmpty == true)
        let record = try #require(model.record(payment.caller, payment.key))
        let asking = PaymentChange(payment: payment, entries: [], lease: .none, record: record)
        #expect(model.changedRow(by: asking)?.records.map(\.key) == [payment.key])
        #expect(model.changedRow(of: payment.caller, payment.key)?.records.map(\.key) == [payment.key])
        #expect(model.changedRow(of: payment.caller, try IdempotencyKey("k2")) == nil)
    }
}
