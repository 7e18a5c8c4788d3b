internal import Foundation
internal import PaymentCore
internal import Reconciler
internal import StoreContract
internal import Testing

@testable internal import MemoryStore

@Suite struct MemoryStoreContractTests {
    private static let subject = StoreSubject(
        withStore: { clock, body in try await body(MemoryStore(clock: { clock.now() })) },
        tamper: { store, tampering in
            let store = try #require(store as? MemoryStore)
            try await store.apply(tampering)
        })

    @Test(arguments: ContractCase.all)
    func `the store keeps its contract`(_ sentence: ContractCase) async throws {
        try await sentence.check(Self.subject)
    }
}

extension MemoryStore {
    func apply(_ tampering: Tampering) throws {
        switch tampering {
        case .alterEntry(let id, let sequence):
            trails[id] = try (trails[id] ?? []).map { try $0.sequence == sequence ? $0.altered() : $0 }
        case .truncateTrail(let id):
            trails[id]?.removeLast()
            try moveHead(of: id)
        case .rewriteTrail(let id):
            trails[id] = Tampering.forged(trails[id] ?? [], of: id)
            try moveHead(of: id)
        case .removeTrail(let id):
            trails[id] = nil
        case .alterSeal(let number):
            let heads = sealing.seals.map(\.heads)
            sealing.seals = zip(sealing.seals, heads).map { sealed, heads in
                guard sealed.seal.number == number else { return sealed }
                return Sealing.Sealed(seal: sealed.seal, heads: Array(heads.dropLast()))
            }
        case .removeSeal(let number):
            sealing.seals.removeAll { $0.seal.number == number }
        }
    }

    /// The head is set from outside only by decoding: the machine does not offer to move it.
    private func moveHead(of id: PaymentID) throws {
        guard var found = stored[id], let last = trails[id]?.last else { return }
        let head = AuditHead(sequence: last.sequence, hash: last.hash)
        found.payment = try found.payment.changed("auditHead", to: head)
        stored[id] = found
    }
}

extension Decodable where Self: Encodable {
    /// The same value with one member replaced.
    func changed(_ member: String, to value: some Encodable) throws -> Self {
        let whole = try JSONSerialization.jsonObject(with: JSONEncoder().encode(self))
        var members = try #require(whole as? [String: Any])
        members[member] = try JSONSerialization.jsonObject(
            with: JSONEncoder().encode(value), options: .fragmentsAllowed)
        return try JSONDecoder().decode(Self.self, from: JSONSerialization.data(withJSONObject: members))
    }
}

extension AuditEntry {
    func altered() throws -> AuditEntry { try changed("fields", to: [AuditField("amount", "1 JPY")]) }
}
