import HTTPTransport
import PaymentCore
import Reconciler
import StoreContract
import Testing
import WitnessServers
import Witnesses

/// An item of a table as a witness.
@Suite(.serialized) struct ItemContractTests {
    @Test(arguments: WitnessContractCase.all)
    func `an item keeps the contract of witnesses`(_ sentence: WitnessContractCase) async throws {
        try await sentence.check { clock, body in
            try await ItemServer.run { server, url in
                try await ItemSubject.with(server, url, clock) { subject in try await body(subject) }
                #expect(server.wasReadConsistently)
            }
        }
    }

    @Test(arguments: [
        ("ResourceNotFoundException", "there is no table witness in eu-west-1", false),
        ("AccessDeniedException", "the role may not get and put", false),
        ("ThrottlingException", "answers 400 ThrottlingException", true),
    ])
    func `what is refused is said, and gives no right`(problem: String, words: String, isPassing: Bool) async throws {
        try await ItemServer.run { server, url in
            try await ItemSubject.with(server, url, ManualClock()) { subject in
                server.refuse(with: problem)
                do throws(StoreFailure) {
                    _ = try await subject.witness.look(skew: .zero)
                    Issue.record("it was answered")
                } catch {
                    #expect(error.cause.contains(words) && error.isPassing == isPassing, "\(error)")
                }
            }
        }
    }
}

/// An item at a server of the test.
struct ItemSubject: WitnessSubject {
    let server: ItemServer
    let item: ConditionalWitness
    var witness: any SiteWitness { item }
    var coarseness: Span { .seconds(1) }

    static func with(
        _ server: ItemServer, _ url: String, _ clock: ManualClock, _ body: @Sendable (ItemSubject) async throws -> Void
    ) async throws {
        try await ClockedSender.lend(clock) { sender in
            try await body(ItemSubject(server: server, item: witness(url, sender)))
        }
    }

    private static func witness(_ url: String, _ sender: any HTTPSender) -> ConditionalWitness {
        let place = DynamoDBItem.Place(region: "eu-west-1", table: "witness", item: "pair", url: url)
        let keys = ["AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret"]
        let item = DynamoDBItem(place, environment: keys, sender: sender, now: { ManualClock.start })
        return ConditionalWitness(item, limit: .seconds(5))
    }

    func wipe() async { server.item = nil }

    func copied() async -> @Sendable () async throws -> Void {
        let copy = server.item
        return { server.item = copy }
    }

    func whileSilent(_ body: @Sendable () async throws -> Void) async throws {
        server.keepSilent(true)
        try await body()
        server.keepSilent(false)
    }

    func elsewhere() async throws -> any SiteWitness {
        let sender = CurlSender(configuration: CurlConfiguration(maximumConnections: 1, allowPlainHTTP: true))
        return ItemSubject.witness("http://127.0.0.1:1", sender)
    }
}
