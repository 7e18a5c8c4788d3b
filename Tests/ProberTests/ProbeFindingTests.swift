import PaymentCore
import Testing

@testable import Prober

struct ProbeFindingTests {
    private typealias Row = (ContractProperty, ProbeSight, ProbeFinding.Verdict)

    /// The reference contract claims the best of everything but the clock, which it allows five seconds.
    @Test func `a contract is held against what was seen`() {
        let rows: [Row] = [
            (.cancel, .exactly(.word("tombstoning")), .confirmed),
            (.cancel, .exactly(.word("only_if_present")), .contradicted),
            (.cancel, .atMost(.word("only_if_present")), .contradicted),
            (.inquiry, .exactly(.word("by_listing")), .contradicted),
            (.keyRetention, .atLeast(.span(.minutes(10))), .trusted),
            (.keyRetention, .atMost(.span(.minutes(10))), .contradicted),
            (.declinesBound, .exactly(.flag(true)), .confirmed),
            (.declinesBound, .exactly(.flag(false)), .contradicted),
            (.declinesBound, .nothing("why"), .trusted),
            (.visibilityLag, .atMost(.span(.zero)), .confirmed),
            (.visibilityLag, .atMost(.span(.milliseconds(1))), .contradicted),
            (.clockSkew, .atMost(.span(.seconds(5))), .confirmed),
            (.clockSkew, .atMost(.span(.seconds(4))), .trusted),
            (.clockSkew, .atMost(.span(.seconds(6))), .contradicted),
            (.authorizationLife, .exactly(.span(.days(7))), .confirmed),
            (.authorizationLife, .exactly(.span(.days(6))), .contradicted),
            (.authorizationLife, .exactly(.span(.days(8))), .modest),
            (.requestsPerSecond, .atLeast(.number(20)), .trusted),
            (.requestsPerSecond, .atMost(.number(199)), .contradicted),
            (.requestsPerSecond, .atLeast(.number(300)), .modest),
            (.cancelReversesSale, .exactly(.flag(true)), .contradicted),
            (.phases, .exactly(.word("sale")), .contradicted),
            (.refundVisibility, .exactly(.word("sums_only")), .contradicted),
        ]
        for (property, sight, verdict) in rows {
            #expect(
                ProbeFinding(property, sight, []).verdict(on: .reference) == verdict, "\(property), \(sight)")
        }
    }

    @Test func `what is written claims no more than was seen, and takes nothing away that was not looked at`() {
        func value(_ property: ContractProperty, _ sight: ProbeSight) -> PropertyValue {
            ProbeFinding(property, sight, []).value(besides: .reference)
        }
        #expect(value(.cancel, .exactly(.word("none"))) == .word("none"))
        #expect(value(.cancelDeadline, .nothing("why")) == .span(nil))
        #expect(value(.keyRetention, .atLeast(.span(.minutes(10)))) == .span(nil))
        #expect(value(.keyRetention, .atMost(.span(.minutes(10)))) == .span(.minutes(10)))
        // One probe sees little of how late a provider can be.
        #expect(value(.clockSkew, .atMost(.span(.seconds(1)))) == .span(.seconds(5)))
        #expect(value(.visibilityLag, .atMost(.span(.seconds(2)))) == .span(.seconds(2)))
        #expect(value(.requestsPerSecond, .atLeast(.number(300))) == .number(300))
        #expect(value(.requestsPerSecond, .atMost(.number(50))) == .number(50))
    }

    @Test func `every property has a value, and a finding whatever was looked at`() async throws {
        for property in ContractProperty.allCases {
            let finding = ProbeFinding.unmeasured(property, in: .reference)
            #expect(finding.verdict(on: .reference) == .trusted)
            #expect(finding.value(besides: .reference) == ProviderContract.reference.value(of: property))
        }
    }
}
