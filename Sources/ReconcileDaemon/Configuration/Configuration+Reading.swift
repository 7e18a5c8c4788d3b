import Foundation
import HTTPEdge
import Logging
import PaymentCore
import Reconciler
import Yams

extension Configuration {
    /// Reads a file, lays the environment over it, and checks all of it. Throws every problem at once.
    static func load(path: String?, environment: [String: String]) throws -> Configuration {
        let root = try node(path: path)
        var configuration = try read(root, environment: environment) { try String(contentsOfFile: $0, encoding: .utf8) }
        configuration.files += [path].compactMap { $0 }
        return configuration
    }

    /// Reads a configuration for a command that sends nothing to providers: without their tokens and certificates,
    /// which whoever looks into the books need not have.
    static func loadForBooks(path: String?, environment: [String: String]) throws -> Configuration {
        let root = try node(path: path)
        return try read(root, environment: environment, isForSending: false) {
            try String(contentsOfFile: $0, encoding: .utf8)
        }
    }

    /// The content of the file that an option names; nothing without a file.
    static func node(path: String?, of option: String = "--config") throws -> Node? {
        guard let path else { return nil }
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationFailure(problems: [
                ConfigurationProblem(key: option, value: path, allowed: "a file that can be read")
            ])
        }
        return try parse(text, path: path)
    }

    private static func parse(_ text: String, path: String) throws -> Node? {
        do {
            return try Yams.compose(yaml: text)
        } catch {
            throw ConfigurationFailure(problems: [
                ConfigurationProblem(key: path, value: "\(error)", allowed: "YAML")
            ])
        }
    }

    static func read(
        _ root: Node?, environment: [String: String], isForSending: Bool = true,
        readFile: @escaping (String) throws -> String
    ) throws -> Configuration {
        let reading = ConfigurationReading(environment: environment, isForSending: isForSending, readFile: readFile)
        let top = ConfigurationSection(
            root, path: "", variablePrefix: ConfigurationReading.prefix, reading: reading)
        let site = top.section("site")
        let store = top.section("store")
        let http = top.section("http")
        let admin = top.section("admin")
        let telemetry = top.section("telemetry")
        let objectives = top.section("objectives")
        let reconcile = top.section("reconcile")
        let claim = readRecoveryClaim(store)
        let storage = StoreSettings.read(store, environment: environment)
        var siteSettings = readSite(site, storage, environment: environment)
        // A lease that the standby proves, or a witness, tells by itself.
        let countsOnStandby = siteSettings.replication == .synchronous && siteSettings.proof == .none
        siteSettings.standbyRequirement =
            StoreSettings.readRequirement(store, storage) ?? (countsOnStandby ? .warn : nil)
        let (policy, assumptions) = readPolicy(reconcile, claim, siteSettings)
        let providers = readProviders(top, policy, assumptions)
        siteSettings.contractsAtRisk = contractsAtRisk(providers, assumptions)
        siteSettings.keySpaces = KeySpaces(contracts(of: providers))
        var tokens: Set<Digest> = []
        var configuration = Configuration(
            site: siteSettings, store: storage,
            http: Listener(
                host: http.text("host") ?? "127.0.0.1", port: http.int("port", in: 0...65_535, default: 8080),
                maximumConnections: http.int("max_connections", in: 16...65_536, default: 4_096),
                tls: readTLS(http, clients: .always)),
            maximumBodyBytes: http.int("max_body_bytes", in: 1_024...1_048_576, default: 65_536),
            maximumConcurrentRequests: http.int("max_concurrent_requests", in: 1...100_000, default: 2_048),
            cardNumbers: readCardNumbers(http), admin: readAdmin(admin),
            operators: readPrincipals(admin, "operators", &tokens),
            callers: readPrincipals(top, "callers", &tokens),
            providers: providers, policy: policy, assumptions: assumptions,
            recovery: openWindow(claim, providers.map(\.contract), store), sweep: readSweep(reconcile),
            comparison: readComparison(reconcile, providers, paymentsKeptFor: storage.paymentsKeptFor),
            maximumActive: reconcile.int("max_active", in: 1...1_000_000, default: 4_096),
            sealEvery: reconcile.duration("seal_every", default: .seconds(10)),
            shutdownGrace: reconcile.duration("shutdown_grace", default: .seconds(20)),
            objectives: Objectives(
                settleWithin: objectives.duration("settle_within", default: .minutes(5)),
                recoveryLevel: objectives.choice("rlo", default: .full),
                recoveryTime: objectives.duration("rto", default: .minutes(1)),
                recoveryPoint: objectives.duration("rpo", default: .zero, atLeast: .zero)),
            logLevel: telemetry.choice("log_level", default: Logger.Level.info),
            logAsJSON: telemetry.value("log_format", allowed: "text or json", default: false) {
                $0 == "json" ? true : $0 == "text" ? false : nil
            })
        configuration.signedTokens = readSignedTokens(http)
        let subjects = configuration.callers.compactMap(\.subject)
        if !subjects.isEmpty, configuration.signedTokens == nil, http.isForSending {
            let allowed = "issuer, audience and keys of who signs tokens, where a caller has a jwt_subject"
            http.report("jwt", value: "", allowed: allowed)
        }
        configuration.admin.tls = readTLS(admin, clients: .whereAsked)
        for section in [site, store, http, admin, telemetry, objectives, reconcile, top] { section.finish() }
        try reading.finish()
        configuration.files = reading.files
        return configuration
    }

    private static func readPolicy(
        _ section: ConfigurationSection, _ claim: RecoveryClaim?, _ site: Site
    ) -> (SettlementPolicy, SafetyAssumptions) {
        var policy = SettlementPolicy()
        policy.inquirySchedule = readSchedule(section, "inquiry_schedule", policy.inquirySchedule)
        policy.resendSchedule = readSchedule(section, "resend_schedule", policy.resendSchedule)
        policy.defaultDeadline = section.duration("default_deadline", default: policy.defaultDeadline)
        policy.sendWithin = section.duration("send_within", default: policy.sendWithin)
        policy.healingSpan = section.duration("contradiction_heals_after", default: policy.healingSpan)
        policy.plugAllowed = section.bool("allow_plug", default: false)
        policy.tombstoneNeverSent = section.bool("tombstone_never_sent", default: false)
        let assumptions = SafetyAssumptions(
            storeKeepsAcknowledgedRows: claim?.storeIsAsynchronous != true && site.replication != .asynchronous,
            plugAllowed: policy.plugAllowed,
            onePhaseOnAsynchronousStoreAccepted: section.bool(
                "accept_one_phase_on_asynchronous_store", default: false),
            longestInquiryPause: policy.inquirySchedule.delays.last ?? .days(1))
        return (policy, assumptions)
    }

    private static func readSchedule(
        _ section: ConfigurationSection, _ key: String, _ fallback: DelaySchedule
    ) -> DelaySchedule {
        guard let texts = section.texts(key) else { return fallback }
        let spans = texts.compactMap(DurationText.parse)
        do {
            guard spans.count == texts.count else { throw DelaySchedule.Failure.empty }
            return try DelaySchedule(spans)
        } catch {
            section.report(
                key, value: texts.joined(separator: ", "),
                allowed: "a list of durations above zero, none shorter than the one before it")
            return fallback
        }
    }

    private static func readSweep(_ section: ConfigurationSection) -> Sweep.Limits {
        let defaults = Sweep.Limits()
        return Sweep.Limits(
            places: section.int("places", in: 1...100_000, default: defaults.places),
            placesPerProvider: section.int("places_per_provider", in: 1...100_000, default: defaults.placesPerProvider),
            batch: section.int("batch", in: 1...10_000, default: defaults.batch),
            longestPause: section.duration("poll_every", default: defaults.longestPause),
            lease: section.duration("lease", default: defaults.lease, atLeast: .seconds(1)))
    }
}
