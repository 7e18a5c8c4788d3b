import MemoryStore
import PaymentCore
import Reconciler
import Testing

@testable import Simulation

@Suite struct WorldPartsTests {
    @Test func `what is for the same time happens in the order in which it was put in`() {
        var heap = EventHeap<Int>()
        for (step, moment) in [(1, 5), (2, 3), (3, 5), (4, 1), (5, 3)] as [(Int, Int64)] {
            heap.push(step, at: moment)
        }
        var order: [Int] = []
        while let next = heap.pop() { order.append(next.step) }
        #expect(order == [4, 2, 5, 1, 3])
    }

    @Test func `a slot is free again once what it held was taken`() {
        var slots = Slots<String>()
        let first = slots.put("a")
        let second = slots.put("b")
        let (taken, again) = (slots.take(first), slots.take(first))
        let third = slots.put("c")
        #expect(taken == "a")
        #expect(again == nil)
        #expect(third == first)
        #expect(slots[second] == "b")
    }

    private func stored() throws -> (store: StoreModel, machine: PaymentMachine, plan: RunPlan, now: Timestamp) {
        let plan = RunPlan(seed: 1)
        let planned = try #require(plan.payments.first)
        let request = try #require(planned.requests.first)
        var store = StoreModel(placesFor: [planned.id])
        let now = plan.start
        let created = PaymentMachine.create(request, MachineContext(now: now, contracts: plan.contracts))
        let change = PaymentChange(
            payment: created.machine.payment, entries: created.machine.newEntries,
            lease: .creating(holder: "a", leaseFor: .seconds(30)))
        guard case .committed(let version, let lease) = try store.commit(change, at: now) else {
            throw Missing()
        }
        #expect(version == 1)
        #expect(lease == LeaseToken(1))
        var machine = created.machine
        machine.committed(version: version)
        return (store, machine, plan, now)
    }

    private struct Missing: Error {}

    @Test func `a change from an older version is refused`() throws {
        var (store, machine, plan, now) = try stored()
        _ = machine.handle(.inquireNow, MachineContext(now: now, contracts: plan.contracts))
        let change = PaymentChange(
            payment: machine.payment, entries: machine.newEntries, lease: .holding(LeaseToken(1)))
        let first = try store.commit(change, at: now)
        let second = try store.commit(change, at: now)
        let lax = try store.commit(change, at: now, overlooking: [.versions, .trails])
        #expect(first == .committed(version: 2, lease: nil))
        #expect(second == .versionConflict)
        #expect(lax == .committed(version: 2, lease: nil))
    }

    @Test func `a token that was superseded cannot write, and a running lease cannot be claimed by another`() throws {
        var (store, machine, _, now) = try stored()
        let id = machine.payment.id
        let early = store.claim(id, holder: "b", leaseFor: .seconds(30), at: now)
        #expect(early == nil)
        let later = now + .seconds(31)
        let claimed = store.claim(id, holder: "b", leaseFor: .seconds(30), at: later)
        #expect(claimed?.token == LeaseToken(2))
        let change = PaymentChange(payment: machine.payment, entries: [], lease: .holding(LeaseToken(1)))
        let written = try store.commit(change, at: later)
        let old = store.renew(id, LeaseToken(1), leaseFor: .seconds(30), at: later)
        let new = store.renew(id, LeaseToken(2), leaseFor: .seconds(30), at: later)
        #expect(written == .leaseLost)
        #expect(!old)
        #expect(new)
    }

    @Test func `what is due is claimed once its lease is over, and not before`() throws {
        var (store, _, _, now) = try stored()
        let request = ClaimRequest(holder: "b", limit: 8, leaseFor: .seconds(30))
        let early = store.claimDue(request, at: now + .seconds(29))
        let next = store.nextDue(in: .everywhere)
        let due = store.claimDue(request, at: now + .seconds(30))
        #expect(early.isEmpty)
        #expect(next == now + .seconds(30))
        #expect(due.count == 1)
    }
}
