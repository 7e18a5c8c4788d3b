import HTTPTransport
import PostgresServers
import ProviderSimulator
import Testing

/// A real daemon whose standby follows asynchronously: what was decided counts once the standby has it on its disk.
@Suite(.serialized) struct AsynchronousSiteTests {
    private static func settings(_ settings: inout WorldSettings) {
        settings.contractLines = ["max_request_life: 7s", "clock_skew: 500ms"]
        settings.reconcileLines = ["send_within: 3s", "accept_one_phase_on_asynchronous_store: true"]
    }

    @Test func `nothing final is told before an asynchronous standby has it, and it is told then`() async throws {
        let site = "lease: 3s, replication: asynchronous"
        try await TwoSites.run(site, isSynchronous: false, Self.settings) { sites in
            let east = sites.east
            let held = Bodies.payment([("card", 900)], capture: "manual")
            let canceled = try await east.create(held, key: "held-1")
            let captured = try await east.create(held, key: "held-2")
            #expect([canceled.state, captured.state] == ["authorized", "authorized"])
            try await Moment.come()
            try await sites.pair.freezeStandby()

            let cancel = try await east.operate("/v1/payments/\(canceled.id)/cancel", key: "cancel-1", wait: 2)
            #expect(cancel.status == 202, "\(cancel.text)")
            let capture = try await east.operate("/v1/payments/\(captured.id)/capture", key: "capture-1", wait: 2)
            #expect(capture.status == 202, "\(capture.text)")
            try await Polling.until("the hold is released, which no loss can make wrong") {
                try await sites.world.sends(.void, to: "card") == 1
            }
            try await Polling.until("what waits is counted") {
                let metrics = try await east.send(.get, "/metrics", admin: true).text
                return metrics.contains("reconciled_decisions_unconfirmed 2")
            }
            for payment in [canceled, captured] {
                let state = try await east.send(.get, "/v1/payments/\(payment.id)").state ?? ""
                #expect(!["canceled", "failed", "succeeded"].contains(state), "told \(state)")
            }
            #expect(try await sites.world.sends(.capture, to: "card") == 0)

            try sites.pair.thawStandby()
            #expect(try await east.settled(canceled.id).state == "canceled")
            #expect(try await east.settled(captured.id).state == "succeeded")
            let again = try await east.operate("/v1/payments/\(canceled.id)/cancel", key: "cancel-1", wait: 10)
            #expect(again.status == 200, "\(again.text)")
        }
    }
}
