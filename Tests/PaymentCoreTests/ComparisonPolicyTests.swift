import PaymentCore
import Testing

@Suite struct ComparisonPolicyTests {
    @Test func `every pair of class and action is allowed or refused as the list says`() throws {
        var allowed = 0
        for found in ComparisonClass.allCases {
            for action in ComparisonAction.allCases {
                let isAllowed = ComparisonPolicy.allowed(for: found).contains(action)
                allowed += isAllowed ? 1 : 0
                do throws(ComparisonPolicy.Failure) {
                    let policy = try ComparisonPolicy([found: .init(action, after: .hours(2))])
                    #expect(isAllowed, "\(action) for \(found)")
                    #expect(policy.rule(for: found) == .init(action, after: .hours(2)))
                } catch {
                    #expect(!isAllowed, "\(action) for \(found)")
                    let expected: ComparisonPolicy.Failure =
                        found.isDifference ? .notAllowed(action, found) : .notADifference(found)
                    #expect(error == expected)
                }
            }
        }
        #expect(allowed == 8 * 3 + 2 + 2 + 1 + 1)
    }

    @Test func `the defaults are allowed, touch nothing that is not ours, and wait for what may heal`() {
        for found in ComparisonClass.differences {
            let rule = ComparisonPolicy.standard.rule(for: found)
            #expect(ComparisonPolicy.allowed(for: found).contains(rule.action), "\(found)")
            #expect(rule.action == .settle || rule.action == .tell, "\(found)")
        }
        #expect(ComparisonPolicy.standard.rule(for: .orphan) == .init(.tell, after: .days(1)))
        #expect(ComparisonPolicy.standard.rule(for: .foreign) == .init(.tell))
    }

    @Test func `a refusal says what is wrong and what is allowed`() {
        #expect(throws: ComparisonPolicy.Failure.negativeWait(.orphan)) {
            try ComparisonPolicy([.orphan: .init(.tell, after: .milliseconds(-1))])
        }
        #expect(
            "\(ComparisonPolicy.Failure.notAllowed(.undo, .foreign))"
                == "undo is not allowed for foreign; allowed are tell")
        let words = "\(ComparisonPolicy.Failure.notADifference(.matched))"
        #expect(words.hasPrefix("matched is not a difference; rules are for contradiction, currency_differs"))
    }

    @Test func `a payment that cannot act any more is told to a person`() throws {
        func action(_ found: ComparisonClass, _ ours: BookedPosition?) throws -> ComparisonAction {
            ComparisonPolicy.standard.rule(for: try Compared.finding(found, ours: ours)).action
        }
        #expect(try action(.statusDiffers, Compared.ours("k", .taken)) == .tell)
        #expect(try action(.statusDiffers, Compared.ours("k", .ended, state: .failed)) == .settle)
        #expect(try action(.refundDiffers, Compared.ours("k", .taken, work: .underWay)) == .settle)
    }

    @Test func `what does not show what it takes to undo it is told to a person, after the same wait`() throws {
        let policy = try ComparisonPolicy([
            .orphan: .init(.undo, after: .hours(2)), .duplicate: .init(.undo, after: .hours(2)),
        ])
        for found in [ComparisonClass.orphan, .duplicate] {
            let whole = try Compared.theirs("k", .captured, names: "x")
            let unreadable = ListedPosition(
                key: whole.key, payment: whole.payment, leg: 0, status: .captured, amount: nil, captured: nil,
                refunds: [], updatedAt: whole.updatedAt, contradiction: "amount_unreadable", store: Compared.store)
            let rule = policy.rule(for: try Compared.finding(found, theirs: whole))
            #expect(rule == .init(.undo, after: .hours(2)))
            for theirs in [unreadable, try Compared.theirs("k", .authorized, amount: 0, names: "x")] {
                let told = policy.rule(for: try Compared.finding(found, theirs: theirs))
                #expect(told == .init(.tell, after: .hours(2)))
            }
        }
    }

    /// Seed 34335134032211: a canceled payment whose hold came back was to be quarantined, and nobody could do that.
    @Test func `what has ended is not quarantined, and a person is told instead`() throws {
        let policy = try ComparisonPolicy([.statusDiffers: .init(.quarantine)])
        let theirs = try Compared.theirs("k", .authorized, names: "k")
        for (state, work, action) in [
            (PaymentState.processing, BookedPosition.Work.underWay, ComparisonAction.quarantine),
            (.authorized, .none, .quarantine), (.canceled, .none, .tell), (.failed, .none, .tell),
            (.succeeded, .none, .tell), (.succeeded, .underWay, .tell),
        ] {
            let ours = try Compared.ours("k", .ended, work: work, state: state)
            let rule = policy.rule(for: try Compared.finding(.statusDiffers, ours: ours, theirs: theirs))
            #expect(rule.action == action, "\(state) \(work)")
        }
    }
}
