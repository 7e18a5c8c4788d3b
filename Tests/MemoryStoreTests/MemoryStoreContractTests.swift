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
    func apply(_ tampering: Tampering) throws { try model.apply(tampering) }
}

extension StoreModel {
    mutating func apply(_ tampering: Tampering) throws {
        switch tampering {
        case .alterEntry(let id, let sequence):
            try changeTrail(of: id) { trail in
                trail = try trail.map { try $0.sequence == sequence ? $0.altered() : $0 }
            }
        case .truncateTrail(let id):
            try changeTrail(of: id) { $0.removeLast() }
            try moveHead(of: id)
        case .rewriteTrail(let id):
            try changeTrail(of: id) { $0 = Tampering.forged($0, of: id) }
            try moveHead(of: id)
        case .removeTrail(let id):
            try changeTrail(of: id) { $0 = [] }
        case .alterPayment(let id):
            let rowIndex = try #require(rowIndices[id])
            let payment = try #require(rows[rowIndex]).payment
            rows[rowIndex]?.payment = try payment.changed("captureMode", to: "manual")
        case .alterSeal(let number):
            seals = seals.map { sealed in
                guard sealed.seal.number == number else { return sealed }
                return Sealed(seal: sealed.seal, heads: Array(sealed.heads.dropLast()))
            }
        case .removeSeal(let number):
            seals.removeAll { $0.seal.number == number }
        }
    }

    private mutating func changeTrail(of id: PaymentID, _ change: (inout [AuditEntry]) throws -> Void) throws {
        let rowIndex = try #require(rowIndices[id])
        var trail = rows[rowIndex]?.trail ?? []
        try change(&trail)
        rows[rowIndex]?.trail = trail
    }

    /// The head is set from outside only by decoding: the machine does not offer to move it.
    private mutating func moveHead(of id: PaymentID) throws {
        guard let rowIndex = rowIndices[id], let row = rows[rowIndex], let last = row.trail.last else { return }
        let head = AuditHead(sequence: last.sequence, hash: last.hash)
        rows[rowIndex]?.payment = try row.payment.changed("auditHead", to: head)
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
