import PaymentCore
import Testing

/// Both sides of a position, and the class that they come to.
@Suite struct ComparisonFactsTests {
    private func found(
        _ ours: BookedPosition?, _ theirs: ListedPosition?, named: BookedPosition? = nil,
        visibility: ProviderContract.RefundVisibility = .byKey, isHidden: Bool = false
    ) -> ComparisonClass {
        let surroundings = ComparisonFacts.Surroundings(
            horizon: Compared.start + .hours(1), refundVisibility: visibility, isHidden: isHidden)
        let facts = ComparisonFacts(ours: ours, named: named, theirs: theirs, in: surroundings)
        return ComparisonTable.shipped.classify(facts).finds
    }

    @Test func `sides that say the same are matched`() throws {
        #expect(try found(Compared.ours("k", .taken), Compared.theirs("k", .captured)) == .matched)
        #expect(try found(Compared.ours("k", .held, state: .authorized), Compared.theirs("k", .authorized)) == .matched)
        for status in [Observation.Status.declined, .voided, .tombstoned, .expired] {
            #expect(try found(Compared.ours("k", .ended, state: .failed), Compared.theirs("k", status)) == .matched)
        }
        #expect(try found(Compared.ours("k", .ended, state: .failed), nil) == .matched)
        let partly = try Compared.ours("k", .taken, captured: 600)
        #expect(try found(partly, Compared.theirs("k", .captured, captured: 600)) == .matched)
    }

    @Test func `two equal partial refunds of one payment are no duplicate`() throws {
        let ours = try Compared.ours("k", .taken, refunds: ["r1": 300, "r2": 300])
        let same = try Compared.theirs("k", .captured, refunds: ["r1": 300, "r2": 300])
        #expect(found(ours, same) == .matched)
        #expect(try found(ours, Compared.theirs("k", .captured, refunds: ["r1": 300])) == .refundDiffers)
        let thrice = try Compared.theirs("k", .captured, refunds: ["r1": 300, "r2": 300, "r3": 300])
        #expect(found(ours, thrice) == .lateReversal)
    }

    @Test func `refunds of equal sums under other keys differ where the provider shows keys`() throws {
        let ours = try Compared.ours("k", .taken, refunds: ["r1": 300])
        let other = try Compared.theirs("k", .captured, refunds: ["x1": 300])
        #expect(found(ours, other) == .refundDiffers)
        #expect(found(ours, other, visibility: .sumsOnly) == .matched)
        let more = try Compared.theirs("k", .captured, refunds: ["x1": 301])
        #expect(found(ours, more, visibility: .sumsOnly) == .lateReversal)
        let less = try Compared.theirs("k", .captured, refunds: ["x1": 299])
        #expect(found(ours, less, visibility: .sumsOnly) == .refundDiffers)
    }

    @Test func `what was given back is the same whether by refunds or by a void`() throws {
        let ours = try Compared.ours("k", .givenBack, refunds: ["r": 1_000], state: .failed)
        #expect(try found(ours, Compared.theirs("k", .captured, refunds: ["r": 1_000])) == .matched)
        #expect(try found(ours, Compared.theirs("k", .voided)) == .matched)
        #expect(try found(ours, Compared.theirs("k", .captured)) == .refundDiffers)
        #expect(try found(ours, Compared.theirs("k", .declined)) == .statusDiffers)
    }

    @Test func `a success that was reversed there by somebody else is a late reversal`() throws {
        let ours = try Compared.ours("k", .taken)
        #expect(try found(ours, Compared.theirs("k", .voided)) == .lateReversal)
        #expect(try found(ours, Compared.theirs("k", .captured, refunds: ["x": 1_000])) == .lateReversal)
        #expect(try found(ours, Compared.theirs("k", .captured, refunds: ["x": 1])) == .lateReversal)
    }

    @Test func `surplus and deficit both differ`() throws {
        let ours = try Compared.ours("k", .taken)
        for amount in [Int64(999), 1_001] {
            #expect(try found(ours, Compared.theirs("k", .captured, amount: amount)) == .amountDiffers)
            let captured = try Compared.theirs("k", .captured, captured: amount)
            #expect(found(ours, captured) == .amountDiffers)
        }
        #expect(try found(ours, Compared.theirs("k", .captured, in: "EUR")) == .currencyDiffers)
        #expect(try found(ours, Compared.theirs("k", .authorized)) == .statusDiffers)
        #expect(try found(ours, Compared.theirs("k", .declined)) == .statusDiffers)
        #expect(found(ours, nil) == .oursOnly)
        let ended = try Compared.ours("k", .ended, state: .canceled)
        #expect(try found(ended, Compared.theirs("k", .captured)) == .statusDiffers)
        #expect(try found(ended, Compared.theirs("k", .authorized)) == .statusDiffers)
        let odd = try Compared.theirs("k", .captured, contradiction: "another_kind")
        #expect(found(ours, odd) == .contradiction)
    }

    @Test func `what only the provider has is told apart by whom it names`() throws {
        let ours = try Compared.ours("k", .taken)
        let copy = try Compared.theirs("copy", .captured, names: "k")
        #expect(found(nil, copy, named: ours) == .duplicate)
        #expect(found(nil, copy) == .orphan)
        #expect(try found(nil, Compared.theirs("copy", .captured)) == .foreign)
        #expect(try found(nil, Compared.theirs("copy", .pending, names: "k")) == .orphan)
        for status in [Observation.Status.declined, .voided, .tombstoned, .expired] {
            #expect(try found(nil, Compared.theirs("copy", status, names: "k"), named: ours) == .inert)
        }
        let undone = try Compared.theirs("copy", .captured, refunds: ["x": 1_000], names: "k")
        #expect(found(nil, undone) == .inert)
    }

    @Test func `what changed at the horizon or later is in flight, unless it agrees`() throws {
        let late = Compared.start + .hours(1)
        let before = late + .milliseconds(-1)
        #expect(try found(Compared.ours("k", .taken, at: late), nil) == .inFlight)
        #expect(try found(Compared.ours("k", .taken, at: before), nil) == .oursOnly)
        let ended = try Compared.ours("k", .ended, state: .failed)
        #expect(try found(ended, Compared.theirs("k", .captured, at: late)) == .inFlight)
        #expect(try found(ended, Compared.theirs("k", .captured, at: before)) == .statusDiffers)
        #expect(try found(nil, Compared.theirs("k", .captured, names: "k", at: late)) == .inFlight)
        #expect(try found(Compared.ours("k", .taken, at: late), Compared.theirs("k", .captured)) == .matched)
    }

    @Test func `what is under way is in flight, and a difference once it stays`() throws {
        let open = try Compared.ours("k", .undecided, work: .underWay, state: .processing)
        #expect(found(open, nil) == .inFlight)
        #expect(try found(open, Compared.theirs("k", .pending)) == .inFlight)
        #expect(try found(open, Compared.theirs("k", .captured)) == .statusDiffers)
        let capturing = try Compared.ours("k", .held, work: .underWay, state: .processing)
        #expect(try found(capturing, Compared.theirs("k", .authorized)) == .inFlight)
        #expect(try found(capturing, Compared.theirs("k", .captured)) == .statusDiffers)
        let quarantined = try Compared.ours("k", .undecided, work: .people, state: .quarantined)
        #expect(try found(quarantined, Compared.theirs("k", .declined)) == .inFlight)
        #expect(try found(quarantined, Compared.theirs("k", .captured)) == .statusDiffers)
    }

    @Test func `what agrees and is not listed is hidden`() throws {
        let ours = try Compared.ours("k", .taken)
        #expect(try found(ours, Compared.theirs("k", .captured), isHidden: true) == .hidden)
        #expect(found(ours, nil, isHidden: true) == .oursOnly)
    }

    @Test func `amounts that are too large to add up are a contradiction and count nothing`() throws {
        let yen = try Compared.yen()
        let key = EffectKey(reported: "k")
        for amount in [ListedPosition.largestAmount, ListedPosition.largestAmount + 1, .max] {
            let observation = Observation(
                .captured, began: Compared.start, source: .inquiry, key: key, amount: try Money(amount, yen))
            let read = ListedPosition(
                observation, key: key, payment: nil, leg: nil, updatedAt: nil, phases: .sale)
            let isCounted = amount == ListedPosition.largestAmount
            #expect(read?.net == NetAmount(isCounted ? amount : 0, yen))
            #expect((read?.contradiction == nil) == isCounted)
        }
        let sums = Observation(
            .captured, began: Compared.start, source: .inquiry, amount: try Money(1, yen),
            captures: [
                .init(key: key, amount: try Money(.max, yen), state: .succeeded),
                .init(key: key, amount: try Money(.max, yen), state: .succeeded),
            ])
        let read = ListedPosition(
            sums, key: key, payment: nil, leg: nil, updatedAt: nil, phases: .authorizeCapture)
        #expect(read?.contradiction == "amounts_do_not_add_up")
        #expect(read?.net == NetAmount(0, yen))
    }

    @Test func `what was taken in one step at a provider of two counts with its amount`() throws {
        let amount = try Money(700, Compared.yen())
        let sale = Observation(
            .captured, began: Compared.start, source: .inquiry, amount: amount, contradiction: "another_kind")
        let read = ListedPosition(
            sale, key: EffectKey(reported: "k"), payment: nil, leg: nil, updatedAt: nil, phases: .authorizeCapture)
        #expect(read?.captured == amount && read?.net?.value == 700)
        #expect(read?.contradiction == "another_kind")
    }
}
