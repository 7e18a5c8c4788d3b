import Foundation
import PaymentCore
import Testing

@Suite struct AuditChainTests {
    let payment: PaymentID
    let entries: [AuditEntry]
    let head: AuditHead

    init() throws {
        var stage = try Fixture().stage([.reference, .reference], send: [.lostAnswer])
        stage.run()
        payment = stage.durable.id
        entries = stage.trail
        head = stage.durable.auditHead
        #expect(entries.count > 10)
    }

    private func found(_ trail: [AuditEntry], head: AuditHead? = nil) -> AuditBreak? {
        do {
            try AuditHead.verify(trail, of: payment, head: head ?? self.head)
            return nil
        } catch {
            return error
        }
    }

    /// An entry as somebody would write it who cannot compute the hash anew.
    private func altered(_ entry: AuditEntry, _ from: String, _ to: String) throws -> AuditEntry {
        let text = String(decoding: try JSONEncoder().encode(entry), as: UTF8.self)
        let changed = text.replacingOccurrences(of: from, with: to)
        try #require(changed != text)
        return try JSONDecoder().decode(AuditEntry.self, from: Data(changed.utf8))
    }

    @Test func `a whole trail is intact`() {
        #expect(found(entries) == nil)
        #expect(entries.first?.type == .created && entries.last?.type == .concluded)
        #expect(found([], head: .empty(payment)) == nil)
        // Computed with Python's hashlib.
        #expect(
            AuditHead.empty(payment).hash.hex == "1e22557012577bcaffc968c3628b8e8fbb989ec2738a017818bd3e1c6e5a7ffa")
    }

    @Test func `an altered entry is found, wherever it is and whatever was altered`() throws {
        for index in entries.indices {
            for part in [("\"name\":\"", "\"name\":\"x"), ("\"value\":\"", "\"value\":\"1"), ("\"at\":1", "\"at\":2")] {
                var trail = entries
                trail[index] = try altered(entries[index], part.0, part.1)
                #expect(found(trail) == .altered(sequence: Int64(index + 1)))
            }
        }
        var trail = entries
        trail[1] = try altered(entries[1], "\"type\":\"intent\"", "\"type\":\"outcome\"")
        #expect(found(trail) == .altered(sequence: 2))
        trail[1] = try altered(entries[1], "\"leg\":0", "\"leg\":1")
        #expect(found(trail) == .altered(sequence: 2))
    }

    @Test func `a rewritten entry breaks the link of the next`() {
        var trail = entries
        let before = AuditHead(sequence: trail[2].sequence, hash: trail[2].hash)
        trail[3] = AuditEntry(
            after: before, payment: payment, at: trail[3].at, type: .alert, leg: nil, fields: [])
        #expect(found(trail) == .unlinked(sequence: 5))
    }

    @Test func `a missing entry is found`() {
        for index in entries.indices.dropLast() {
            var trail = entries
            trail.remove(at: index)
            #expect(found(trail) == .gap(expected: Int64(index + 1), found: Int64(index + 2)))
        }
    }

    @Test func `exchanged and repeated entries are found`() {
        for index in entries.indices.dropLast() {
            var swapped = entries
            swapped.swapAt(index, index + 1)
            #expect(found(swapped) == .gap(expected: Int64(index + 1), found: Int64(index + 2)))
            var repeated = entries
            repeated.insert(entries[index], at: index)
            #expect(found(repeated) == .gap(expected: Int64(index + 2), found: Int64(index + 1)))
        }
    }

    @Test func `a trail that ends too early or goes on is found`() {
        let count = Int64(entries.count)
        for length in entries.indices {
            let broken = AuditBreak.wrongHead(expected: count, found: Int64(length))
            #expect(found(Array(entries.prefix(length))) == broken)
        }
        let more = AuditEntry(after: head, payment: payment, at: entries[0].at, type: .alert, leg: nil, fields: [])
        #expect(found(entries + [more]) == .wrongHead(expected: count, found: count + 1))
    }

    @Test func `a trail of another payment is found`() throws {
        let fixture = try Fixture()
        let other = PaymentID(caller: fixture.caller, key: try IdempotencyKey("another"))
        #expect(throws: AuditBreak.unlinked(sequence: 1)) { try AuditHead.verify(entries, of: other, head: head) }
        #expect(entries.allSatisfy { !$0.isIntact(payment: other) })
    }
}
