import Testing

/// What the alerts on the objective are computed from.
@Suite struct ObjectiveTests {
    @Test(arguments: [("5m", 0.0), ("1ms", 1.0)])
    func `a payment is late if it took longer than the objective`(_ objective: String, _ late: Double) async throws {
        var settings = WorldSettings()
        settings.objectives = "{settle_within: \(objective)}"
        try await World.run(settings) { _, client in
            let (count, lateCount) = (
                "reconciled_payment_settle_duration_seconds_count{state=\"succeeded\"}",
                "reconciled_payments_settled_late_total{state=\"succeeded\"}"
            )
            // A rate needs both before the first payment.
            #expect(try await client.metric(count) == 0)
            #expect(try await client.metric(lateCount) == 0)
            let created = try await client.create(Bodies.payment([("card", 700)]), key: "o-1")
            #expect(created.state == "succeeded", "\(created.text)")
            #expect(try await client.metric(count) == 1)
            #expect(try await client.metric(lateCount) == late)
            let day = "reconciled_payment_settle_duration_seconds_bucket{state=\"succeeded\",le=\"86400.0\"}"
            #expect(try await client.metric(day) == 1)
        }
    }
}
