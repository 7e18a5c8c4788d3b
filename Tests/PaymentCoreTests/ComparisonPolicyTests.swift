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
        let policy = ComparisonPolicy.standard
        let succeeded = try Compared.ours("k", .taken)
        #expect(policy.rule(for: .statusDiffers, ours: succeeded).action == .tell)
        let failed = try Compared.ours("k", .ended, state: .failed)
        #expect(policy.rule(for: .statusDiffers, ours: failed).action == .settle)
        let refunding = try Compared.ours("k", .taken, work: .underWay)
        #expect(policy.rule(for: .refundDiffers, ours: refunding).action == .settle)
        let undoing = try ComparisonPolicy([.orphan: .init(.undo)])
        #expect(undoing.rule(for: .orphan, ours: nil).action == .undo)
    }
}
