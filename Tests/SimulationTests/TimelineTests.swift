import PaymentCore
import Testing

@testable import Simulation

@Suite struct TimelineTests {
    @Test func `a payment without faults reads as what its caller and its providers saw`() throws {
        let reduction = Reduction(keptPayments: [9], withoutKinds: FaultKind.allCases)
        let plan = reduction.plan(seed: 1)
        let timeline = Timeline(plan, World.run(plan, isRecording: true))
        let asked = try #require(timeline.lines.first { $0.text.contains("asks to create payment 9") })
        let written = try #require(timeline.lines.first { $0.text.contains("writes payment 9 version 1") })
        let sent = try #require(timeline.lines.first { $0.text.contains("of payment 9 leg 0 to") })
        #expect(asked.at <= written.at && written.at <= sent.at)
        #expect(written.text.contains("[do.first]"))
        #expect(timeline.head.contains { $0.contains("payment 9:") })
        #expect(!timeline.lines.contains { $0.origin == "FAULT" || $0.origin == "VIOLATED" })
    }

    @Test func `only the payments that matter are told of`() {
        let plan = Reduction(keptPayments: [0, 1, 2]).plan(seed: 2)
        let result = World.run(plan, isRecording: true)
        let timeline = Timeline(plan, result, payments: [1])
        #expect(timeline.lines.contains { $0.text.contains("payment 1") })
        #expect(!timeline.lines.contains { $0.text.contains("payment 0 ") || $0.text.contains("payment 2 ") })
    }

    @Test func `it ends where the invariant is broken`() throws {
        let plant = try #require(Plant.sabotages.first { $0.name == "sendsBeforeCommit" })
        let plan = Reduction(keptPayments: [9]).plan(seed: 1)
        let result = World.run(plan, plant: plant, isRecording: true)
        let finding = try #require(SeedFinding.all(in: result).first)
        let timeline = Timeline(plan, result, finding: finding)
        let last = try #require(timeline.lines.last)
        #expect(last.origin == "VIOLATED")
        #expect(last.text.contains("invariant 9, payment 9:"))
    }

    @Test func `repetitions are drawn together`() {
        let plan = Reduction(keptPayments: [9], withoutKinds: FaultKind.allCases).plan(seed: 1)
        let result = World.run(plan, isRecording: true)
        let many = (0..<40).map { number in
            Happening(
                at: plan.start + .seconds(10 + Int64(number)), .fault(.throttled, id: UInt64(number), detail: ""))
        }
        let repeated = RunResult(
            hash: 0, happenings: many, violations: [], faultsStruck: [], probesHit: [], events: 0,
            simulatedTime: .zero, payments: 0, misconduct: nil, unrest: result.unrest)
        let lines = Timeline(plan, repeated).lines
        #expect(lines.map(\.origin) == ["FAULT", "…"])
        #expect(lines.last?.text == "the same again, 39 times until now")
        #expect(lines.last?.at == .seconds(49))
    }

    @Test func `long timelines lose their middle, not their ends`() throws {
        let plan = Reduction(keptPayments: [0, 1, 2]).plan(seed: 2)
        let timeline = Timeline(plan, World.run(plan, isRecording: true))
        let all = timeline.lines.map(\.words)
        try #require(all.count > 12)
        let text = timeline.text(limit: 8)
        #expect(text.count == timeline.head.count + 9)
        #expect(text.last == all.last)
        #expect(text[timeline.head.count] == all[0])
        #expect(text.contains("… \(all.count - 8) lines are left out …"))
    }

    @Test(arguments: [(0, "    00:00:00.000"), (1_822_733, "    00:30:22.733"), (183_600_001, " 2d 03:00:00.001")])
    func `times are told since the start`(milliseconds: Int64, text: String) {
        #expect(Timeline.clock(Span(milliseconds: milliseconds)) == text)
    }
}
