import Foundation
import HTTPTransport
import PostgresServers
import ProviderSimulator
import Testing

/// Two sites: a daemon at a primary (east) and one at its standby (west), with the same providers.
struct TwoSites: Sendable {
    let world: World
    let pair: PostgresPair
    /// A caller of the site that is active at first.
    let east: APIClient
    /// A caller of the other.
    let west: APIClient
    private let westProcess: DaemonProcess
    private let westConfiguration: URL

    /// What `site:` says of both, beside names.
    static func site(_ name: String, _ peer: String, _ more: String) -> String {
        let fence = more.contains("proof:") ? "" : ", unfenced: a test stops one by hand"
        let both = "name: \(name), peer: {name: \(peer), url: 'https://\(peer).example'}, clock_skew: 500ms"
        return "\(both), \(more)\(fence)"
    }

    /// Lends both sites. The world's first daemon is the active site's.
    ///
    /// - Parameters:
    ///   - site: more of `site:`, in YAML's flow style.
    ///   - isSynchronous: whether the primary waits for its standby.
    static func run(
        _ site: String = "lease: 3s, proof: standby, replication: synchronous", isSynchronous: Bool = true,
        _ change: (inout WorldSettings) -> Void = { _ in }, _ body: @Sendable (TwoSites) async throws -> Void
    ) async throws {
        let pair = try await PostgresPair.start()
        do {
            if !isSynchronous { try await pair.psql(on: .primary, "ALTER SYSTEM SET synchronous_standby_names = ''") }
            try await pair.psql(on: .primary, "SELECT pg_reload_conf()")
            var settings = WorldSettings()
            settings.store = .postgres(dsn: pair.primaryDSN, schema: "reconciled", timeLimit: "2s")
            settings.places = 2
            settings.logLevel = "info"
            settings.site = TwoSites.site("east", "west", site)
            change(&settings)
            let western = western(settings, pair, site)
            try await World.run(settings) { world, east in
                try await pair.standbyShows("reconciled.site_terms", rows: 1)
                let file = world.directory.appendingPathComponent("west.yaml")
                try western.yaml(port: world.simulatorPort, directory: world.directory)
                    .write(to: file, atomically: true, encoding: .utf8)
                let process = try DaemonProcess(
                    configuration: file, log: world.directory.appendingPathComponent("daemon-1.log"), failpoint: nil)
                do {
                    let ports = try await process.ready()
                    let west = APIClient(port: ports.api, adminPort: ports.admin)
                    try await body(
                        TwoSites(
                            world: world, pair: pair, east: east, west: west, westProcess: process,
                            westConfiguration: file))
                    process.kill()
                } catch {
                    process.kill()
                    throw error
                }
            }
            try await pair.stop()
        } catch {
            try await pair.stop()
            throw error
        }
    }

    private static func western(_ settings: WorldSettings, _ pair: PostgresPair, _ site: String) -> WorldSettings {
        var western = settings
        western.store = .postgres(dsn: pair.standbyDSN, schema: "reconciled", timeLimit: "2s")
        western.site = TwoSites.site("west", "east", site)
        return western
    }

    /// Runs `reconciled site …` at a site, as a pipe would.
    func site(_ arguments: [String], atWest: Bool = true) async throws -> (status: Int32, output: String) {
        let configuration = atWest ? westConfiguration : world.configuration
        return try await world.command(["site"] + arguments, configuration: configuration)
    }

    /// Runs a command of the program with the configuration of the site that was not active at first.
    func command(_ arguments: [String]) async throws -> (status: Int32, output: String) {
        try await world.command(arguments, configuration: westConfiguration)
    }

    /// The last line that a command printed, as JSON.
    static func json(_ output: String) -> [String: Any] {
        let line = output.split(separator: "\n").last { $0.hasPrefix("{") } ?? ""
        return (try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]) ?? [:]
    }

    /// Makes a payment that both sites know, and cuts the standby off: it hears nothing of what comes after.
    func leaveStandbyBehind() async throws {
        try await Moment.come()
        let known = try await east.create(Bodies.card(), key: "known-1")
        try await Polling.until("the standby shows the payment") {
            try await west.send(.get, "/v1/payments/\(known.id)").state == "succeeded"
        }
        try await pair.psql(on: .standby, "ALTER SYSTEM SET primary_conninfo = ''")
        try await pair.psql(on: .standby, "SELECT pg_reload_conf()")
        try await Polling.until("nobody follows the primary") {
            try await pair.psql(on: .primary, "SELECT count(*) FROM pg_stat_replication") == "0"
        }
    }

    /// Loses the active site at once: its daemon and its database.
    func loseEast() async throws {
        try await Moment.come()
        await world.kill(0)
        try await pair.killPrimary()
    }

    /// Kills the daemon of the site that was not active at first.
    func killWest() { westProcess.kill() }

    /// Starts the daemon of the site that was active at first again, which asks the other one at its real address.
    ///
    /// - Parameter more: more of `site:`, in YAML's flow style.
    func restartEast(_ more: String = "") async throws -> APIClient {
        let text = try String(contentsOf: world.configuration, encoding: .utf8)
        let asking = text.replacing(
            "url: 'https://west.example'", with: "url: 'http://127.0.0.1:\(west.port)', allow_plain_http: true"
        )
        .replacing("proof: standby", with: "proof: standby\(more)")
        try asking.write(to: world.configuration, atomically: true, encoding: .utf8)
        return try await world.start(0)
    }

    /// Whether a site says to the load balancer that it is active.
    func isActive(_ client: APIClient) async throws -> Bool {
        try await client.send(.get, "/activez", admin: true).status == 200
    }

    /// Waits until a site is active, or is not any more.
    func untilActive(_ client: APIClient, _ wanted: Bool = true, within limit: Duration = .seconds(20)) async throws {
        try await Polling.until("activez is \(wanted)", within: limit) { try await isActive(client) == wanted }
    }
}

extension PostgresPair {
    /// Waits until the standby shows so many rows of a table.
    func standbyShows(_ table: String, rows: Int) async throws {
        try await Polling.until("the standby has \(table)") {
            (try? await psql(on: .standby, "SELECT count(*) FROM \(table)")) == "\(rows)"
        }
    }
}
