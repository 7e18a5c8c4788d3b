import Foundation
import HTTPTransport
import PaymentCore
import Reconciler
import StoreContract
import Testing
import WitnessServers
import Witnesses

/// A Lease as a witness.
@Suite(.serialized) struct LeaseContractTests {
    @Test(arguments: WitnessContractCase.all)
    func `a Lease keeps the contract of witnesses`(_ sentence: WitnessContractCase) async throws {
        try await sentence.check { clock, body in
            try await LeaseServer.run { server, url in
                try await LeaseSubject.with(server, url, clock) { subject in try await body(subject) }
            }
        }
    }
}

/// A Lease at a server of the test.
struct LeaseSubject: WitnessSubject {
    let server: LeaseServer
    let lease: ConditionalWitness
    let files: URL
    var witness: any SiteWitness { lease }
    var coarseness: Span { .seconds(1) }

    static func with(
        _ server: LeaseServer, _ url: String, _ clock: ManualClock, token: String = LeaseServer.token,
        _ body: @Sendable (LeaseSubject) async throws -> Void
    ) async throws {
        let files = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: files, withIntermediateDirectories: true)
        try Data((token + "\n").utf8).write(to: files.appendingPathComponent("token"))
        defer { try? FileManager.default.removeItem(at: files) }
        try await ClockedSender.lend(clock) { sender in
            try await body(LeaseSubject(server: server, lease: witness(url, files, sender), files: files))
        }
    }

    private static func witness(_ url: String, _ files: URL, _ sender: any HTTPSender) -> ConditionalWitness {
        let place = KubernetesLease.Place(
            url: url, namespace: "payments", name: "reconciled", tokenFile: files.appendingPathComponent("token").path)
        return ConditionalWitness(KubernetesLease(place, sender: sender), limit: .seconds(5))
    }

    /// The Lease is made anew from its manifest.
    func wipe() async { server.lease = LeaseServer.Lease(resourceVersion: 1_000) }

    func copied() async -> @Sendable () async throws -> Void {
        let copy = server.lease
        return { server.lease = copy }
    }

    func whileSilent(_ body: @Sendable () async throws -> Void) async throws {
        server.keepSilent(true)
        try await body()
        server.keepSilent(false)
    }

    func elsewhere() async throws -> any SiteWitness {
        let sender = CurlSender(configuration: CurlConfiguration(maximumConnections: 1, allowPlainHTTP: true))
        return LeaseSubject.witness("http://127.0.0.1:1", files, sender)
    }
}
