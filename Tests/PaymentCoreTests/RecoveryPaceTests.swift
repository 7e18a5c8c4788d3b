import PaymentCore
import Testing

/// How soon payments of a recovery window go on.
extension RecoveredPaymentTests {
    /// Drill partition: payments of a recovery window waited half a second after each answer, for a read that nothing
    /// held up.
    @Test
    func `in a recovery window an answer is confirmed by a read at once, and a failed read is not repeated at once`()
        throws
    {
        var machine = try recovering([.reference])
        let now = try context([.reference], after: .minutes(1))
        func inquiries(_ actions: [PaymentAction]) -> Int {
            actions.count { if case .inquire = $0 { true } else { false } }
        }
        let sent = machine.handle(read(.notFound, machine, leg: 0, now), now)
        #expect(sent.contains { if case .send = $0 { true } else { false } })
        let leg = machine.payment.legs[0]
        let answer = Observation(
            .authorized, began: now.now, source: .answer, key: leg.primary.key, amount: leg.amount)
        let report = AttemptReport(.accepted, code: "ok", observation: answer)
        #expect(inquiries(machine.handle(.attempted(leg: 0, effect: .primary, number: 1, report), now)) == 1)
        let failed = Observation(.unavailable, began: now.now, source: .inquiry)
        #expect(inquiries(machine.handle(.inquired(leg: 0, failed), now)) == 0)
        #expect(try #require(machine.payment.dueAt) > now.now)
    }
}
