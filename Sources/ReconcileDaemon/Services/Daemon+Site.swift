import Logging
import OperationsConsole
import PaymentAPI
import PaymentCore
import Reconciler
import ServiceLifecycle

/// The part of a daemon that belongs to its site.
struct SiteParts {
    /// Whether this process may act.
    let gate: SiteGate
    /// Renews and watches; `nil` where there can be only one site.
    let keeper: SiteKeeper?
    /// What people may ask.
    let desk: SiteDesk
    /// The witness, if there is one.
    let witness: OpenWitness?
    /// The other site, if it can be asked.
    let peer: PeerClient?
    /// Looks whether a standby confirms, where one is counted on.
    let standby: StandbyService?
}

extension Configuration {
    /// The gate of this process: one that needs no keeping where the store belongs to one site.
    func siteGate() -> SiteGate {
        guard case .postgres = store else { return .alwaysOpen() }
        return SiteGate(site.machine)
    }

    /// The witness of the configuration.
    func openWitness() -> OpenWitness? { site.witness?.open() }
}

extension Daemon {
    /// Puts the site's part together.
    func siteParts(
        _ store: any SiteStore, _ identity: StoreID?, _ engine: SettlementEngine, _ gate: SiteGate,
        _ clock: any WallClock, _ logger: Logger
    ) -> SiteParts {
        let witness = configuration.openWitness()
        let desk = SiteDesk(
            store: store, witness: witness?.witness, clock: clock, settings: configuration.site.desk)
        guard case .postgres = configuration.store else {
            return SiteParts(gate: gate, keeper: nil, desk: desk, witness: witness, peer: nil, standby: nil)
        }
        let machine = SiteKeeperMachine.Settings(
            machine: configuration.site.machine, recovery: configuration.recovery,
            contracts: configuration.contracts)
        let settings = SiteKeeper.Settings(machine: machine, skew: configuration.site.skew)
        let peer = PeerClient(configuration.site, store: identity)
        let keeper = SiteKeeper(
            store: store, witness: witness?.witness, peer: peer, engine: engine, gate: gate, settings: settings,
            clock: clock,
            logger: logger)
        let standby = configuration.site.standbyRequirement.map {
            StandbyService(watch: StandbyWatch($0), store: store, clock: clock, logger: logger)
        }
        return SiteParts(gate: gate, keeper: keeper, desk: desk, witness: witness, peer: peer, standby: standby)
    }

    /// What the site says of itself to its peer.
    func siteWord(_ gate: SiteGate, _ identity: StoreID?) -> @Sendable () -> SiteWord {
        let name = configuration.site.name
        guard case .postgres = configuration.store else {
            return { SiteWord(site: name, store: identity, activeSite: name, epoch: nil) }
        }
        return {
            let term = gate.row?.term
            return SiteWord(site: name, store: identity, activeSite: term?.site, epoch: gate.row.map(\.epoch))
        }
    }

    /// Whether the site is active: what the global load balancer asks.
    func activity(_ gate: SiteGate) -> HealthCheck {
        HealthCheck("site") {
            let standing = gate.standing
            if let refusal = standing.refusal { return .fail("\(refusal)") }
            return standing.isDraining ? .fail("the site is being drained") : .pass
        }
    }
}

/// Keeps the site for as long as the engine may have something to write.
struct SiteService: Service {
    let keeper: SiteKeeper

    func run() async throws {
        await cancelWhenGracefulShutdown { await keeper.run() }
    }
}
