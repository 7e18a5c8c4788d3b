import PaymentCore
import Testing

@Suite struct DelayScheduleTests {
    @Test(arguments: [DelaySchedule.inquiry, .resend])
    func `delays grow, stay on the last, and jitter adds less than a tenth`(_ schedule: DelaySchedule) {
        #expect(schedule.delays.allSatisfy { $0 > .zero })
        for index in -2..<40 {
            let delayIndex = min(max(index, 0), schedule.delays.count - 1)
            let base = schedule.delays[delayIndex]
            #expect(schedule.delay(index, jitter: 0) == base)
            var last = base
            for jitter in stride(from: 0, through: 999, by: 37) {
                let delay = schedule.delay(index, jitter: jitter)
                #expect(delay >= last)
                #expect(delay.milliseconds - base.milliseconds <= base.milliseconds / 10)
                last = delay
            }
            #expect(schedule.isLast(index) == (index >= schedule.delays.count - 1))
            #expect(schedule.delay(index, jitter: -5) == base)
            #expect(schedule.delay(index, jitter: 5_000) == schedule.delay(index, jitter: 999))
        }
    }

    @Test func `jitter spreads a delay of a second and more`() {
        for base in [1_000, 30_000, 86_400_000] as [Int64] {
            do {
                let schedule = try DelaySchedule([.milliseconds(base)])
                #expect(schedule.delay(0, jitter: 999).milliseconds > base + base / 11)
            } catch {
                Issue.record("\(error)")
            }
        }
    }

    @Test func `a schedule must have entries, positive and ascending`() {
        #expect(throws: DelaySchedule.Failure.empty) { try DelaySchedule([]) }
        #expect(throws: DelaySchedule.Failure.notPositive) { try DelaySchedule([.zero, .seconds(1)]) }
        #expect(throws: DelaySchedule.Failure.notPositive) { try DelaySchedule([.seconds(-1)]) }
        #expect(throws: DelaySchedule.Failure.notAscending) { try DelaySchedule([.seconds(2), .seconds(1)]) }
        #expect(throws: Never.self) { try DelaySchedule([.seconds(1), .seconds(1), .seconds(2)]) }
    }

    @Test func `the longest delay does not overflow`() throws {
        let schedule = try DelaySchedule([Span(milliseconds: .max)])
        #expect(schedule.delay(0, jitter: 999) == Span(milliseconds: .max))
    }
}
