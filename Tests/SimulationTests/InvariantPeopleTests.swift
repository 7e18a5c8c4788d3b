import PaymentCore
import Simulation
import Testing

@Suite struct InvariantPeopleTests {
    /// A payment whose provider shows another amount.
    private func contradicted() throws -> Story {
        var story = try Story([.reference], .manual)
        story.choices[.authorize] = ProviderChoices(contradicts: true)
        try story.settle()
        try #require(story.payment.state == .quarantined)
        return story
    }

    /// A story in which "ann" proposes a repair, and somebody approves it, by the shipped table without a row.
    private func repaired(
        _ action: Repair.Action = .undoneOutside, by approver: String = "ben", reference: String? = "theirs",
        amount: Int64? = nil, evidence: String = "their mail", without row: String? = nil,
        meanwhile: (inout Story) throws -> Void = { _ in }
    ) throws -> Story {
        var story = try contradicted()
        let table = RepairTable(rows: RepairTable.shipped.rows.filter { $0.name != row })
        let value = amount ?? story.payment.amount.value
        let request = RepairRequest(
            payment: story.payment.id, target: .leg(0), action: action,
            evidence: Repair.Evidence(
                text: evidence, reference: reference, amount: try Money(value, story.payment.amount.currency)),
            isAgainstProvider: true, version: story.payment.version, by: "ann", lasts: .hours(24))
        var proposed: Repair?
        try story.operate { machine, context throws in
            var context = context
            context.repairTable = table
            let (next, repair) = try PaymentMachine.propose(request, of: machine.payment, context)
            (machine, proposed) = (next, repair)
            return []
        }
        let repair = try #require(proposed)
        try meanwhile(&story)
        let decision = Repair.Decision(isApproved: true, by: approver, at: story.now, reason: "read")
        try story.operate { machine, context throws in
            var context = context
            context.repairTable = table
            machine = try PaymentMachine.decide(repair, decision, of: machine.payment, context).machine
            return []
        }
        return story
    }

    private func words(_ story: Story) -> [String] {
        var invariant = RepairsTakeTwo()
        invariant.judge(story)
        // After the identifier.
        return invariant.words.map { $0.split(separator: " ", maxSplits: 1).last.map(String.init) ?? "" }
    }

    @Test func `25 allows what one proposed with evidence and another one approved`() throws {
        for action in Repair.Action.allCases where action != .undo {
            #expect(words(try repaired(action)) == [], "\(action)")
        }
    }

    @Test func `25 fires when somebody approves what they proposed`() throws {
        #expect(words(try repaired(by: "ann", without: "repair.own")) == ["was proposed and approved by ann"])
    }

    @Test func `25 fires when it is approved after something became known`() throws {
        let story = try repaired(without: "repair.changed") { story in
            let key = story.payment.legs[0].primary.key
            story.now = story.now + .minutes(1)
            story.handle(
                .inquired(leg: 0, Observation(.notFound, began: story.now, source: .inquiry, key: key)))
        }
        #expect(words(story) == ["was approved, but something became known of leg 0 since it was proposed"])
    }

    @Test func `25 fires without evidence, a reference, or the amount that was asked for`() throws {
        #expect(words(try repaired(evidence: "")) == ["was carried out without evidence"])
        let claim = "says that it was charged, without a reference or with another amount than was asked for"
        let bare = try repaired(.charged, reference: nil, without: "repair.charged-without-reference")
        #expect(words(bare) == [claim])
        #expect(words(try repaired(.charged, amount: 7, without: "repair.charged-another-amount")) == [claim])
    }

    @Test func `25 fires when it is carried out twice, or nobody proposed it`() throws {
        let story = try repaired()
        let approval = try #require(story.happenings.last)
        var twice = RepairsTakeTwo()
        twice.judge(story)
        twice.observe(approval.happening, approval.evidence)
        #expect(twice.words.count == 1 && twice.words[0].hasSuffix("was carried out twice"), "\(twice.words)")
        var unproposed = RepairsTakeTwo()
        unproposed.observe(approval.happening, approval.evidence)
        #expect(
            unproposed.words.count == 1 && unproposed.words[0].hasSuffix("nobody had proposed it"),
            "\(unproposed.words)")
    }
}
