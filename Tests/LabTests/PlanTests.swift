import Testing

@testable import Lab

@Suite struct PlanTests {
    @Test func `the same seed gives the same payments`() {
        let first = PlannedPayment.all(count: 300, seed: 7)
        #expect(first == PlannedPayment.all(count: 300, seed: 7))
        #expect(first != PlannedPayment.all(count: 300, seed: 8))
    }

    @Test func `payments have one to three legs, at most one of them one-phase and none in a held one`() {
        for plan in PlannedPayment.all(count: 2_000, seed: 1) {
            #expect((1...3).contains(plan.legs.count))
            let onePhase = plan.legs.count { $0.provider == .balance }
            #expect(onePhase <= (plan.course.isManual ? 0 : 1))
            #expect(plan.total == plan.legs.reduce(0) { $0 + $1.value })
        }
    }

    @Test func `every course occurs, with its share`() {
        let plans = PlannedPayment.all(count: 2_000, seed: 1)
        #expect(PlannedPayment.Course.allCases.reduce(0) { $0 + $1.share } == 100)
        for course in PlannedPayment.Course.allCases {
            let count = plans.count { $0.course == course }
            #expect(abs(count - course.share * 20) < 80, "\(course): \(count)")
        }
    }

    @Test func `a partial capture asks for less of the first leg and nothing of the others`() throws {
        let plan = try #require(
            PlannedPayment.all(count: 2_000, seed: 1).first { $0.course == .capturePart && $0.legs.count == 3 })
        #expect(plan.asked == [plan.legs[0].value / 3, 0, 0])
    }

    @Test(arguments: [1, 10, 25, 50]) func `faults strike the share of requests that was asked for`(percent: Int) {
        let rates = DemoFaults.rates(percent: percent)
        for operation in ["authorize", "sale", "capture", "refund", "void", "inquire"] {
            let sum = rates.filter { $0.operations.contains(operation) }.reduce(0) { $0 + $1.rate }
            #expect(abs(sum - Double(percent) / 100) < 0.000_001, "\(operation): \(sum)")
        }
    }

    @Test(arguments: [1, 10, 25, 50]) func `on Stripe's wire they strike the same share`(percent: Int) {
        let rates = DemoFaults.rates(percent: percent, wire: .stripe)
        for operation in ["register", "authorize", "sale", "capture", "refund", "void", "inquire"] {
            let sum = rates.filter { $0.operations.contains(operation) }.reduce(0) { $0 + $1.rate }
            #expect(abs(sum - Double(percent) / 100) < 0.000_001, "\(operation): \(sum)")
        }
        #expect(!rates.contains { $0.fault == "error_before" && $0.operations.contains("refund") })
    }

    @Test(arguments: [1, 10, 25, 50]) func `on PayPay's wire they strike the same share`(percent: Int) {
        let rates = DemoFaults.rates(percent: percent, wire: .paypay)
        for operation in ["sale", "refund", "void", "inquire"] {
            let sum = rates.filter { $0.operations.contains(operation) }.reduce(0) { $0 + $1.rate }
            #expect(abs(sum - Double(percent) / 100) < 0.000_001, "\(operation): \(sum)")
        }
    }

    @Test func `without faults nothing is injected`() {
        #expect(DemoFaults.rates(percent: 0).isEmpty)
        #expect(DemoFaults.forcingQuarantine(payments: 2_000, percent: 0).isEmpty)
    }

    @Test func `no fault makes a refund impossible, and none forgets a key`() {
        let rates = DemoFaults.rates(percent: 25)
        #expect(!rates.contains { $0.fault == "key_forgotten" })
        let refunds = rates.filter { $0.operations.contains("refund") }
        #expect(!refunds.contains { $0.fault == "decline_bound" || $0.outcome == "declined" })
    }
}
