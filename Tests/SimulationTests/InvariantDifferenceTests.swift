import MemoryStore
import Reconciler
import Testing

@testable import PaymentCore
@testable import Simulation

/// The judges of what comparisons find, and of what they undo.
@Suite struct InvariantDifferenceTests {
    /// The words of judge 20 at the end, with this discrepancy.
    private func found(_ compared: ComparedStory, _ discrepancy: Discrepancy? = nil) throws -> [String] {
        var compared = compared
        let run = compared.ended(try compared.run())
        try compared.keep(run)
        try compared.keep(ComparisonStep(run: run, discrepancies: discrepancy.map { [$0] } ?? []))
        return compared.words(DifferencesAreFound(), [], atRest: true)
    }

    @Test func `20 fires when what differs has no open discrepancy, or a wrong name, or nobody settles it`() throws {
        var compared = try ComparedStory()
        #expect(try found(compared).isEmpty, "the sides agree")
        compared.refundOutside()
        #expect(try found(compared, compared.discrepancy(.lateReversal, compared.key)).isEmpty)
        let cases: [(discrepancy: Discrepancy?, words: String)] = [
            (nil, "is no open discrepancy"),
            (try compared.discrepancy(.lateReversal, compared.key, .closed), "is no open discrepancy"),
            (try compared.discrepancy(.orphan, compared.key), "is called orphan"),
            (try compared.discrepancy(.lateReversal, compared.key, .settling), "and nobody does it"),
        ]
        for (discrepancy, wanted) in cases {
            let words = try found(compared, discrepancy)
            #expect(words.count == 1 && words[0].contains(wanted), "\(wanted): \(words)")
        }
    }

    @Test func `20 fires when a charge that no row has is not found, and leaves out what is too young`() throws {
        let before = try ComparedStory()
        let stranger = EffectKey(reported: "stranger")
        var compared = before
        try compared.enterStranger(stranger)
        #expect(try found(compared).first?.contains("is no open discrepancy") == true)
        #expect(try found(compared, compared.discrepancy(.orphan, stranger)).isEmpty)
        #expect(try found(compared, compared.discrepancy(.duplicate, stranger)).count == 1)
        // One that came after the last run's horizon is for the next.
        var young = before
        let run = young.ended(try young.run())
        try young.keep(run)
        try young.keep(ComparisonStep(run: run))
        try young.enterStranger(stranger)
        #expect(young.words(DifferencesAreFound(), [], atRest: true).isEmpty)
        // Beside a leg of ours there it is a duplicate.
        compared = before
        try compared.enterStranger(stranger, naming: compared.story.payment.id)
        #expect(try found(compared, compared.discrepancy(.duplicate, stranger)).isEmpty)
        #expect(try found(compared, compared.discrepancy(.orphan, stranger)).count == 1)
    }

    @Test(arguments: ["ours.under-way", "both.same"], [Int64(1), 48])
    func `20 waits for the window of a change past the listing, of what is in hand alone`(
        _ row: String, _ hours: Int64
    ) throws {
        // Seed 4762558787929: the run looks at both sides after the change, and has read the listing before it.
        var compared = try ComparedStory()
        compared.refundOutside()
        let run = compared.ended(try compared.run(hours: hours))
        try compared.keep(run)
        let position = ComparedPosition(
            provider: compared.provider, key: compared.key, theirs: nil, ours: nil, listedAt: nil, finding: .inFlight,
            row: row, isNamed: false, comparedAt: compared.story.now, run: run.id)
        try compared.keep(ComparisonStep(run: run, positions: [position]))
        let words = compared.words(DifferencesAreFound(), [], atRest: true)
        #expect(words.isEmpty == (row == "ours.under-way" && hours == 1), "\(words)")
    }

    /// The words of judge 21 about a discrepancy that is opened.
    private func opened(
        _ compared: ComparedStory, _ found: ComparisonClass, runCreatedAt moment: Timestamp? = nil
    ) throws -> [String] {
        var early = compared
        early.story.now = moment ?? compared.story.now
        let run = try early.run()
        let step = try compared.opening(found, compared.key, of: run)
        return compared.words(
            NothingIsInvented(), [.recorded(step, before: run, replica: 0, token: LeaseToken(1))])
    }

    @Test func `21 fires when what agrees, is young, or is listed is called a difference`() throws {
        var compared = try ComparedStory()
        let agreed = try opened(compared, .statusDiffers)
        #expect(agreed.count == 1 && agreed[0].contains("and the sides agree"), "\(agreed)")
        let listed = try opened(compared, .hidden)
        #expect(listed.count == 1 && listed[0].contains("is called hidden, and is listed"), "\(listed)")
        let before = compared.story.now
        compared.refundOutside()
        #expect(try opened(compared, .lateReversal).isEmpty)
        let young = try opened(compared, .lateReversal, runCreatedAt: before + .seconds(1))
        #expect(young.count == 1 && young[0].contains("ms ago"), "\(young)")
    }

    /// Holds end after six hours.
    private var shortHolds: ProviderContract {
        var contract = ProviderContract.reference
        contract.authorizationLife = .hours(6)
        return contract
    }

    @Test func `21 allows what a hold of others is called that stands where ours ended`() throws {
        // Seed 3042848539: the sums agree, and ours is not there any more.
        var story = try Story([shortHolds], .manual)
        try story.settle()
        var compared = ComparedStory(story)
        let amount = compared.story.payment.amount.value
        try compared.enterStranger(compared.key, amount: amount)
        #expect(try opened(compared, .contradiction).isEmpty)
        // Beside ours that stands, the sums themselves differ; one that ended is none of it.
        story = try Story([.reference], .manual)
        try story.settle()
        compared = ComparedStory(story)
        #expect(try opened(compared, .contradiction).count == 1)
        try compared.enterStranger(compared.key, amount: amount)
        #expect(try opened(compared, .contradiction).isEmpty)
    }

    @Test func `21 allows to call a difference what is in doubt here and forgotten there`() throws {
        // Seed 3042850265: a hold that ended, and that its provider shows no more, cannot be told from one that stands.
        func inDoubt(_ contract: ProviderContract) throws -> ComparedStory {
            var story = try Story([contract], .manual)
            try story.deliver(try story.nextSend())
            return ComparedStory(story)
        }
        var forgetful = shortHolds
        forgetful.statusRetention = .hours(12)
        #expect(try opened(inDoubt(forgetful), .statusDiffers).isEmpty)
        let shown = try opened(inDoubt(shortHolds), .statusDiffers)
        #expect(shown.count == 1 && shown[0].contains("and the sides agree"), "\(shown)")
    }

    @Test func `21 allows to call hidden what is hidden`() throws {
        var compared = try ComparedStory()
        let isHidden = compared.story.providers[0].hide(
            compared.key, until: compared.story.now + .days(9), at: compared.story.now)
        #expect(isHidden)
        compared.story.now = compared.story.now + .days(1)
        #expect(try opened(compared, .hidden).isEmpty)
    }

    @Test func `21 lets be what changes while it is compared`() throws {
        var compared = try ComparedStory()
        let run = try compared.run()
        let step = try compared.opening(.statusDiffers, compared.key, of: run)
        var invariant = NothingIsInvented()
        // It was looked at while something was given back; at the end of the step both sides agree again.
        let began = compared.story.now
        compared.story.replace(
            with: try compared.story.altered { $0["updatedAt"] = (began + .seconds(5)).milliseconds })
        invariant.judge(.compared(.claimed(run, replica: 0, token: LeaseToken(1))), compared.story)
        compared.story.now = began + .seconds(10)
        invariant.judge(
            .compared(.recorded(step, before: run, replica: 0, token: LeaseToken(1))), compared.story)
        #expect(invariant.words.isEmpty, "\(invariant.words)")
    }
}

extension InvariantDifferenceTests {
    /// A transaction that a comparison found under a key.
    private func transaction(
        _ compared: ComparedStory, _ key: EffectKey, _ found: ComparisonClass
    ) throws -> UnbookedTransaction {
        try #require(UnbookedTransaction(compared.finding(found, key), run: try compared.run().id))
    }

    /// The payment that undoes it.
    private func undoing(_ compared: ComparedStory, _ key: EffectKey, _ found: ComparisonClass) throws -> Payment {
        PaymentMachine.undoing(try transaction(compared, key, found), compared.story.context).machine.payment
    }

    private func told(_ story: Story, _ state: PaymentState) -> Happening.What {
        let operation = CallerOperation(
            caller: story.payment.caller, key: story.payment.key, payment: story.payment.id, kind: .create(body: 0))
        return .answered(operation, .settled(state, refund: nil))
    }

    @Test func `22 fires when a caller is told that it succeeded of what is undone, before or after`() throws {
        let compared = try ComparedStory()
        let stranger = EffectKey(reported: "stranger")
        let payment = try undoing(compared, stranger, .orphan)
        #expect(payment.id == compared.story.payment.id, "the orphan takes the place of the payment that it names")
        for state in [PaymentState.succeeded, .authorized] {
            var lost = compared.story
            lost.rows.payments = []
            var before = OnlyStrangersAreUndone()
            before.judge(told(lost, state), lost)
            #expect(before.words.isEmpty)
            before.judge(from: nil, to: payment, lost)
            #expect(before.words == ["it is undone, and its caller was told that it stands"])
            lost.rows.payments = [payment]
            var after = OnlyStrangersAreUndone()
            after.judge(from: nil, to: payment, lost)
            #expect(after.words.isEmpty)
            after.judge(told(lost, .failed), lost)
            #expect(after.words.isEmpty)
            after.judge(told(lost, state), lost)
            #expect(after.words == ["its caller is told \(state.rawValue) of what is undone"])
        }
    }

    @Test func `22 fires when what a caller's payment carries out is undone, or ordered to be`() throws {
        let compared = try ComparedStory()
        var invariant = OnlyStrangersAreUndone()
        invariant.judge(
            from: nil, to: try undoing(compared, EffectKey(reported: "stranger"), .duplicate), compared.story)
        #expect(invariant.words.isEmpty)
        invariant.judge(from: nil, to: try undoing(compared, compared.key, .duplicate), compared.story)
        #expect(invariant.words.count == 1 && invariant.words[0].contains("undoes what it carries out"))
        func ordered(_ key: EffectKey, _ action: ComparisonAction) throws -> ComparisonNews {
            let finding = compared.finding(.duplicate, key)
            return .ordered(
                SettlementOrder(run: try compared.run().id, discrepancy: finding.id, action: action, finding: finding),
                replica: 0)
        }
        let wrong = compared.words(OnlyStrangersAreUndone(), [try ordered(compared.key, .undo)])
        #expect(wrong == ["a leg that it carries out is to be undone as a stranger's"])
        #expect(compared.words(OnlyStrangersAreUndone(), [try ordered(compared.key, .settle)]).isEmpty)
        let stranger = try ordered(EffectKey(reported: "stranger"), .undo)
        #expect(compared.words(OnlyStrangersAreUndone(), [stranger]).isEmpty)
        // A run that looked before the caller came again may still order it.
        var young = compared
        young.story.now = compared.story.payment.createdAt + .minutes(9)
        #expect(young.words(OnlyStrangersAreUndone(), [try ordered(compared.key, .undo)]).isEmpty)
    }

    @Test(arguments: ["ben", "ann", nil])
    func `25 fires when what one person proposed is undone without another`(_ approver: String?) throws {
        var compared = try ComparedStory()
        let key = EffectKey(reported: "stranger")
        let found = try compared.discrepancy(.orphan, key).stored(version: 1)
        let request = RepairRequest(
            payment: nil, target: .discrepancy(found.id), action: .undo,
            evidence: Repair.Evidence(text: "nobody sold it"), isAgainstProvider: false, version: 1, by: "ann",
            lasts: .hours(24))
        let now = compared.story.now
        let (proposed, repair) = try found.proposing(request, .shipped, at: now)
        let decision = Repair.Decision(isApproved: true, by: "ben", at: now, reason: "asked")
        let ordered = try proposed.deciding(repair, decision, .shipped).discrepancy
        var kept = repair
        if let approver {
            kept = kept.decided(Repair.Decision(isApproved: true, by: approver, at: now, reason: "asked"))
        }
        compared.story.rows.repairs[repair.id] = kept
        let order = SettlementOrder(
            run: try compared.run().id, discrepancy: found.id, action: .undo, finding: found.evidence)
        #expect(compared.words(RepairsTakeTwo(), [.ordered(order, replica: 0)]).isEmpty, "the policy ordered it")
        try compared.story.rows.comparisons.apply(.changed(ordered))
        let words = compared.words(RepairsTakeTwo(), [.ordered(order, replica: 0)])
        #expect(words == (approver == "ben" ? [] : ["\(found.id) is to be undone, and no two people said so"]))
    }

    @Test func `22 fires at the end when what was undone stands, or two payments undo it`() throws {
        var compared = try ComparedStory()
        let stranger = EffectKey(reported: "stranger")
        try compared.enterStranger(stranger, naming: compared.story.payment.id)
        let payment = try undoing(compared, stranger, .duplicate)
        compared.story.rows.payments.append(payment)
        let standing = compared.words(OnlyStrangersAreUndone(), [], atRest: true)
        #expect(standing == ["leg 0 was undone, and still stands"])
        let isDone = compared.story.providers[0].changeOutside(.void, stranger, at: compared.story.now)
        #expect(isDone)
        #expect(compared.words(OnlyStrangersAreUndone(), [], atRest: true).isEmpty)
        var other = compared
        other.story.rows.payments = [payment, try undoing(compared, stranger, .orphan)]
        let twice = other.words(OnlyStrangersAreUndone(), [], atRest: true)
        #expect(twice == ["leg 0 is undone by another payment as well"])
    }
}
