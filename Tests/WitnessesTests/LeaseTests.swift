import PaymentCore
import Reconciler
import StoreContract
import Testing
import WitnessServers
import Witnesses

/// What a Lease shows to people, and what stands against asking it.
@Suite struct LeaseTests {
    private func claim(_ site: String, _ epoch: Int64) throws -> WitnessClaim {
        WitnessClaim(try SiteName(site), epoch: epoch, lease: .seconds(10), skew: .seconds(1), witness: nil)
    }

    private func with(
        token: String = LeaseServer.token, _ body: @Sendable (LeaseServer, LeaseSubject) async throws -> Void
    ) async throws {
        try await LeaseServer.run { server, url in
            try await LeaseSubject.with(server, url, ManualClock(), token: token) { try await body(server, $0) }
        }
    }

    private func failure(_ body: () async throws(StoreFailure) -> Void) async -> StoreFailure? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `people see the holder, the term and the time, and what others wrote is kept`() async throws {
        try await with { server, subject in
            server.lease?.annotations["somebody's"] = "note"
            let renewed = try await subject.witness.renew(try claim("east", 7))
            #expect(renewed)
            let lease = try #require(server.lease)
            #expect(lease.spec["holderIdentity"] == "east" && lease.spec["leaseTransitions"] == "7")
            // 2026-03-01T09:00:00Z; the lease begins at the end of that second.
            #expect(lease.spec["renewTime"] == "2026-03-01T09:00:00.000000Z")
            #expect(lease.spec["leaseDurationSeconds"] == "11")
            #expect(lease.annotations["somebody's"] == "note")
            try await subject.witness.release(try SiteName("east"), epoch: 7)
            #expect(server.lease?.spec["holderIdentity"] == "<null>")
        }
    }

    @Test func `the document of this version is read by the next`() async throws {
        try await with { server, subject in
            let identity = "wit_" + String(repeating: "a", count: 32)
            let golden =
                #"{"identity":{"text":"\#(identity)"},"right":{"epoch":3,"site":"west","until":1772355605000}}"#
            server.lease?.annotations[KubernetesLease.annotation] = golden
            let content = try await subject.witness.look(skew: .seconds(1))
            #expect(content.identity?.text == identity)
            let west = try SiteName("west")
            #expect(content.right == .init(epoch: 3, site: west, left: .seconds(6)))
            try await subject.witness.release(try SiteName("west"), epoch: 3)
            #expect(
                server.lease?.annotations[KubernetesLease.annotation]
                    == golden.replacing("1772355605000", with: "0"), "and written as before")
        }
    }

    @Test func `a Lease that is not there gives no right, and says what is to be done`() async throws {
        try await with { server, subject in
            server.lease = nil
            let content = try await subject.witness.look(skew: .zero)
            #expect(content == WitnessContent(identity: nil, right: nil))
            let missing = await failure { () async throws(StoreFailure) in
                _ = try await subject.witness.found(skew: .zero)
            }
            #expect(missing?.code == .incompatible)
            #expect(missing?.cause.contains("there is no Lease payments/reconciled: apply its manifest") == true)
        }
    }

    @Test(arguments: [(403, "may not get and patch"), (500, "answers 500"), (429, "answers 429")])
    func `what the API server refuses is said, and gives no right`(status: Int, words: String) async throws {
        try await with { server, subject in
            server.refuse(with: status)
            let claim = try claim("east", 1)
            let refused = await failure { () async throws(StoreFailure) in _ = try await subject.witness.renew(claim) }
            #expect(refused?.cause.contains(words) == true, "\(String(describing: refused))")
            #expect(refused?.isPassing == (status != 403))
        }
    }

    @Test func `a change that was answered with a failure of the server may have been made`() async throws {
        try await with { server, subject in
            let claim = try claim("east", 1)
            server.refuse(with: 500, onlyPatches: true)
            let failed = await failure { () async throws(StoreFailure) in _ = try await subject.witness.renew(claim) }
            #expect(failed?.code == .indeterminate)
            server.refuse(with: 403, onlyPatches: true)
            let refused = await failure { () async throws(StoreFailure) in _ = try await subject.witness.renew(claim) }
            #expect(refused?.code == .other)
        }
    }

    @Test func `a token that it does not know, and a document that nobody can read, give no right`() async throws {
        try await with(token: "another") { _, subject in
            let claim = try claim("east", 1)
            let refused = await failure { () async throws(StoreFailure) in _ = try await subject.witness.renew(claim) }
            #expect(refused?.cause.contains("does not know the token") == true)
            #expect(refused?.description.contains("another") == false, "the token is told to nobody")
        }
        try await with { server, subject in
            server.lease?.annotations[KubernetesLease.annotation] = "{"
            let claim = try claim("east", 1)
            let refused = await failure { () async throws(StoreFailure) in _ = try await subject.witness.renew(claim) }
            #expect(refused?.code == .corrupted)
            #expect(server.lease?.annotations[KubernetesLease.annotation] == "{", "it is left as it is")
        }
    }
}
