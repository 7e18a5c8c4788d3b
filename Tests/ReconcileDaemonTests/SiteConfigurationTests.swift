import PaymentCore
import PostgresStore
import Reconciler
import Testing
import Witnesses
import Yams

@testable import ReconcileDaemon

@Suite struct SiteConfigurationTests {
    private static let postgres = "store: {url: 'postgres:host=db dbname=payments'}\n"
    private static let peer = "peer: {name: west, url: 'https://west.example'}"

    private func read(_ lines: String, _ environment: [String: String] = [:]) throws -> Configuration {
        var variables = ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"]
        variables.merge(environment) { $1 }
        return try Configuration.read(
            Yams.compose(yaml: ConfigurationTests.minimal + "\n" + lines), environment: variables
        ) { $0 == "/token" ? "secret" : "" }
    }

    private func problems(_ lines: String, _ environment: [String: String] = [:]) -> [String] {
        do {
            _ = try read(lines, environment)
            return []
        } catch let failure as ConfigurationFailure {
            return failure.problems.map(\.description)
        } catch {
            return ["\(error)"]
        }
    }

    @Test func `one site needs no word about sites`() throws {
        let site = try read("").site
        #expect(site.name == .main && site.peer == nil && site.proof == .none && site.replication == .none)
        #expect(site.lease == .seconds(10) && site.skew == .seconds(1) && !site.needsSecondPerson)
        #expect(site.callersRepeatFor == nil)
        #expect(try read("").objectives.recoveryLevel == .full)
        #expect(try read("objectives: {rlo: settle-only}").objectives.recoveryLevel == .settleOnly)
    }

    @Test func `a standby that is counted on is asked for by name, or by replication without a proof`() throws {
        func requirement(_ store: String, _ site: String = "") throws -> StandbyWatch.Requirement? {
            try read("store: {url: 'postgres:host=db dbname=payments'\(store)}\n\(site)").site.standbyRequirement
        }
        #expect(try requirement("") == nil)
        #expect(try requirement(", require_standby: refuse") == .refuse)
        #expect(try requirement(", require_standby: warn") == .warn)
        #expect(try requirement("", "site: {replication: synchronous}") == .warn)
        #expect(try requirement(", require_standby: refuse", "site: {replication: synchronous}") == .refuse)
        #expect(try requirement("", "site: {replication: synchronous, proof: standby}") == nil)
        let sqlite = problems("store: {url: 'sqlite:a.sqlite', require_standby: warn}")
        #expect(sqlite.count == 1 && sqlite[0].contains("store.require_standby: 'warn'"), "\(sqlite)")
        let unknown = problems("store: {url: 'postgres:host=db dbname=payments', require_standby: maybe}")
        #expect(unknown.count == 1 && unknown[0].contains("one of warn, refuse"), "\(unknown)")
    }

    @Test func `contracts that are safe only as long as no row is lost are known before it happens`() throws {
        func risks(_ lines: String, _ more: String = "") throws -> [String] {
            let provider = """
                callers:
                  - {name: shop, token_sha256: "\(String(repeating: "a", count: 64))"}
                providers:
                  - name: card
                    url: https://card.example
                    contract: {\(lines)}
                """
            let configuration = try Configuration.read(
                Yams.compose(yaml: provider + "\n" + more), environment: ["RECONCILED_PROVIDERS_CARD_TOKEN": "secret"]
            ) { _ in "" }
            return configuration.site.desk.contractsAtRisk
        }
        #expect(try risks("base: reference").isEmpty)
        #expect(
            try risks("base: reference, key_retention: 24h") == ["card (retention-on-asynchronous-store)"])
        #expect(try risks("base: reference_sale") == ["card (one-phase-on-asynchronous-store)"])
        let accepted = "reconcile: {accept_one_phase_on_asynchronous_store: true}"
        #expect(try risks("base: reference_sale", accepted).isEmpty)
    }

    @Test func `a pair that nothing of ours fences says in words what does`() throws {
        let lines = "site: {name: east, \(Self.peer), replication: synchronous, unfenced: 'the network, by a script'}"
        let site = try read(Self.postgres + lines).site
        #expect(site.unfenced == "the network, by a script" && site.proof == .none)
    }

    @Test func `a site is read with its peer, its proof and its witness`() throws {
        let site = try read(
            Self.postgres + """
                site:
                  name: east
                  \(Self.peer)
                  proof: postgres
                  replication: asynchronous
                  lease: 20s
                  clock_skew: 2s
                  second_person: required
                  callers_repeat_for: 3d
                  witness: {url: 'postgres:host=third dbname=witness', time_limit: 1s}
                """, ["RECONCILED_SITE_WITNESS_PASSWORD": "hidden"]
        ).site
        #expect(site.peer == SiteOperations.Peer(name: try SiteName("west"), address: "https://west.example"))
        #expect(site.machine.lease == .seconds(20) && site.machine.margin == .seconds(2))
        #expect(site.callersRepeatFor == .days(3))
        #expect(site.needsSecondPerson && site.replication == .asynchronous)
        guard case .postgres(let witness) = site.witness else { return #expect(Bool(false), "\(site)") }
        #expect(witness.password == "hidden" && witness.schema == "reconciled_witness")
        #expect(witness.timeLimit == .seconds(1))
    }

    @Test func `a Lease of a third cluster is a witness`() throws {
        let lease = "url: 'https://third.example:6443/', namespace: pay, token_file: /token, time_limit: 1s"
        let site = try read(Self.postgres + "site: {proof: kubernetes, witness: {\(lease)}}").site
        guard case .kubernetes(let place, nil, .seconds(1)) = site.witness else {
            return #expect(Bool(false), "\(site)")
        }
        #expect(place.url == "https://third.example:6443" && place.tokenFile == "/token")
        #expect(place.namespace == "pay" && place.name == "reconciled")
    }

    @Test func `an item of a table in a third region is a witness`() throws {
        let item = "region: eu-west-1, table: reconciled-witness, item: pair"
        let site = try read(Self.postgres + "site: {proof: dynamodb, witness: {\(item)}}").site
        guard case .dynamodb(let place, .seconds(2)) = site.witness else { return #expect(Bool(false), "\(site)") }
        #expect(place.region == "eu-west-1" && place.table == "reconciled-witness" && place.item == "pair")
        #expect(place.url == nil)
    }

    @Test(arguments: [
        ("site: {proof: standby}", "site.proof: 'standby'; allowed: none, with an SQLite store"),
        ("site: {peer: {name: west}, replication: synchronous}", "site.peer.name: 'west'; allowed: no peer"),
        (
            postgres + "site: {name: west, \(peer), replication: synchronous}",
            "site.peer.name: 'west'; allowed: another name"
        ),
        (
            postgres + "site: {name: east, \(peer), replication: synchronous}",
            "site.proof: 'none'; allowed: standby, postgres, kubernetes or dynamodb, with site.peer"
        ),
        (
            postgres + "site: {name: east, \(peer), replication: synchronous, unfenced: no}",
            "site.unfenced: 'no'; allowed: 8 to 200 characters"
        ),
        (
            postgres + "site: {name: east, \(peer), replication: synchronous, proof: standby, unfenced: by a script}",
            "site.unfenced: 'by a script'; allowed: only with site.peer and site.proof none"
        ),
        (postgres + "site: {name: east, \(peer)}", "site.replication: 'none'; allowed: asynchronous or synchronous"),
        (
            postgres + "site: {proof: standby, replication: asynchronous}",
            "site.replication: 'asynchronous'; allowed: synchronous"
        ),
        (postgres + "site: {proof: postgres}", "site.witness.url: missing"),
        (
            postgres + "site: {witness: {url: 'postgres:host=third'}}",
            "site.proof: 'none'; allowed: postgres, kubernetes or dynamodb, because site.witness is given"
        ),
        (postgres + "site: {proof: kubernetes}", "site.witness.url: missing"),
        (postgres + "site: {proof: dynamodb}", "site.witness.region: missing"),
        (postgres + "site: {proof: dynamodb, witness: {region: eu-west-1}}", "site.witness.table: missing"),
        (
            postgres + "site: {proof: dynamodb, witness: {region: 'eu west', table: w}}",
            "site.witness.region: 'eu west'; allowed: a region such as eu-west-1"
        ),
        (
            postgres + "site: {proof: dynamodb, witness: {region: eu-west-1, table: 'a b'}}",
            "site.witness.table: 'a b'; allowed: a name of 3 to 255"
        ),
        (postgres + "site: {proof: kubernetes, witness: {url: 'https://third'}}", "site.witness.token_file: missing"),
        (
            postgres + "site: {proof: kubernetes, witness: {url: 'https://third', token_file: /none}}",
            "site.witness.token_file: '/none'; allowed: a file with a token that can be read"
        ),
        (
            postgres + "site: {proof: kubernetes, witness: {url: 'https://third', token_file: /none, name: A/b}}",
            "site.witness.name: 'A/b'; allowed: a name of a-z"
        ),
        (
            postgres + "site: {proof: kubernetes, witness: {url: 'third:6443', token_file: /none}}",
            "site.witness.url: 'third:6443'; allowed: https://<host>"
        ),
        (
            postgres + "site: {proof: kubernetes, witness: {url: 'https://third', token_file: /t, ca_bundle: /ca}}",
            "site.witness.ca_bundle: '/ca'; allowed: a PEM file"
        ),
        (
            postgres + "site: {proof: postgres, witness: {url: 'postgres:host=third', token_file: /none}}",
            "site.witness.token_file: '(unknown key)'; allowed: password"
        ),
        (
            postgres + "site: {proof: postgres, witness: {url: 'postgres:host=db dbname=payments'}}",
            "site.witness.url: '(the same as store.url)'"
        ),
        (
            postgres + "site: {proof: postgres, witness: {url: 'postgres:host=third password=x'}}",
            "site.witness.url: '(hidden: it holds a password)'"
        ),
        (postgres + "site: {proof: standby, lease: 4s, clock_skew: 2s}", "site.clock_skew: '2s'"),
        ("site: {name: Tokyo}", "site.name: 'Tokyo'"), ("site: {lease: 1s}", "site.lease: '1s'"),
        ("site: {second_person: maybe}", "site.second_person: 'maybe'; allowed: required or no"),
        ("site: {proof: hope}", "site.proof: 'hope'; allowed: one of none, standby, postgres, kubernetes, dynamodb"),
        ("site: {peer: {url: 'https://west.example'}}", "site.peer.name: missing"),
    ])
    func `what would let two sites act at once, or none, is refused by name`(lines: String, problem: String) {
        let found = problems(lines)
        #expect(found.contains { $0.hasPrefix(problem) }, "\(found)")
    }

    @Test(arguments: ["asynchronous", "synchronous", nil])
    func `payments are decided with a commit as acknowledged, but for one that a site follows later`(
        _ replication: String?
    ) throws {
        let lines = replication.map {
            Self.postgres + """
                site: {name: east, \(Self.peer), replication: \($0), unfenced: by a script}
                reconcile: {accept_one_phase_on_asynchronous_store: true}
                """
        }
        let now = Timestamp(milliseconds: 1_800_000_000_000)
        let context = try read(lines ?? "").machineContext(at: now)
        #expect(context.commitsAreAcknowledged == (replication != "asynchronous"))
        #expect(context.now == now && context.contracts.count == 1)
    }

    @Test func `on an asynchronous replica the contracts are judged as on a store that loses rows`() {
        let lines =
            Self.postgres + "site: {name: east, \(Self.peer), replication: asynchronous, unfenced: by a script}"
        #expect(problems(lines).isEmpty)
        let found = problems(lines, ["RECONCILED_PROVIDERS_CARD_CONTRACT_BASE": "reference_sale"])
        #expect(found.contains { $0.contains("one-phase-on-asynchronous-store") }, "\(found)")
    }
}
