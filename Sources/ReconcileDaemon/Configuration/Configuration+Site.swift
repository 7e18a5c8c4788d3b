import HTTPTransport
import PaymentCore
import Reconciler

extension Configuration {
    /// What the operator decided about sites.
    struct Site {
        /// This site.
        var name: SiteName
        /// The other one.
        var peer: SiteOperations.Peer?
        /// A file of certificates by which the other site's daemon is known; `nil` for those of the system.
        var peerCABundle: String?
        /// What the peer is shown where it asks for a certificate.
        var peerCertificate: CurlConfiguration.ClientCertificate?
        /// How long the site may have stood still, and act again although nobody follows and the other one is silent.
        var resumesAloneWithin: Span
        /// From where the site's right to act is renewed.
        var proof: SiteProofKind
        /// Why nothing stops this site when the other one takes over, in the operator's words.
        var unfenced: String?
        /// How long a renewal lasts.
        var lease: Span
        /// The most by which clocks of the sites' databases differ.
        var skew: Span
        /// How the other site's database follows, as far as the contracts of the providers are concerned.
        var replication: SiteReplication
        /// The standby that must have what is decided before it counts, by its `application_name`; `nil` for all that
        /// follow. Means something with asynchronous replication only.
        var standby: String?
        /// How long a decision waits for the standby at most; `nil` for as long as it takes.
        var countUnconfirmedAfter: Span?
        /// The third place in which the right to act is kept.
        var witness: WitnessSettings?
        /// Whether a promotion asks for a second person.
        var needsSecondPerson: Bool
        /// How long after a loss callers may repeat what they asked before; `nil` where a person says so.
        var callersRepeatFor: Span?
        /// What is done while no synchronous standby confirms; `nil` where nobody counts on one.
        var standbyRequirement: StandbyWatch.Requirement?
        /// Providers whose contract is safe only on a store that keeps what it acknowledged.
        var contractsAtRisk: [String] = []
        /// In which key spaces this site sends.
        var keySpaces = KeySpaces()

        /// What the machine of the site goes by.
        var machine: SiteMachine.Settings {
            SiteMachine.Settings(
                site: name, proof: proof, lease: lease, peer: peer?.address == nil ? nil : peer?.name,
                resumesAloneWithin: resumesAloneWithin)
        }

        /// What a desk goes by.
        var desk: SiteDesk.Settings {
            SiteDesk.Settings(
                site: name, lease: lease, skew: skew, needsSecondPerson: needsSecondPerson,
                contractsAtRisk: contractsAtRisk, keySpaces: keySpaces)
        }
    }

    /// Reads the section `site`.
    static func readSite(
        _ section: ConfigurationSection, _ store: StoreSettings, environment: [String: String]
    ) -> Site {
        let proof = section.choice("proof", default: SiteProofKind.none)
        let replication = section.value(
            "replication", allowed: "one of none, asynchronous, synchronous", default: SiteReplication.none
        ) { SiteReplication(rawValue: $0).flatMap { $0 == .unknown ? nil : $0 } }
        let (peer, peerCABundle, peerCertificate) = readPeer(section)
        let site = Site(
            name: readName(section, "name") ?? .main, peer: peer, peerCABundle: peerCABundle,
            peerCertificate: peerCertificate,
            resumesAloneWithin: section.duration("resume_alone_within", default: .minutes(15), atLeast: .zero),
            proof: proof,
            unfenced: section.text("unfenced"),
            lease: section.duration("lease", default: .seconds(10), atLeast: .seconds(2)),
            skew: section.duration("clock_skew", default: .seconds(1), atLeast: .zero),
            replication: replication, standby: section.text("standby"),
            countUnconfirmedAfter: section.text("count_unconfirmed_after") == nil
                ? nil : section.duration("count_unconfirmed_after", default: .minutes(10)),
            witness: WitnessSettings.read(section, proof, store, environment: environment),
            needsSecondPerson: section.value("second_person", allowed: "required or no", default: false) {
                $0 == "required" ? true : $0 == "no" ? false : nil
            },
            callersRepeatFor: section.text("callers_repeat_for") == nil
                ? nil : section.duration("callers_repeat_for", default: .days(1)))
        check(site, store, section)
        return site
    }

    private static func readName(_ section: ConfigurationSection, _ key: String) -> SiteName? {
        guard let text = section.text(key) else { return nil }
        do {
            return try SiteName(text)
        } catch {
            section.report(key, value: text, allowed: error.allowed)
            return nil
        }
    }

    private static func readPeer(
        _ section: ConfigurationSection
    ) -> (SiteOperations.Peer?, caBundle: String?, CurlConfiguration.ClientCertificate?) {
        let peer = section.section("peer")
        defer { peer.finish() }
        let caBundle = readAuthorities(peer)
        let certificate = readClientCertificate(peer)
        guard peer.has(anyOf: ["name", "url"]) else { return (nil, caBundle, certificate) }
        if peer.text("name") == nil { peer.report("name", value: "", allowed: "the name of the other site") }
        guard let name = readName(peer, "name") else { return (nil, caBundle, certificate) }
        let url = peer.text("url")
        // It is shown to callers as it was written, so it is only checked.
        if let url { _ = readGuardedAddress(peer, url) }
        return (SiteOperations.Peer(name: name, address: url), caBundle, certificate)
    }

    /// Combinations that would let two sites act at once, or one never.
    private static func check(_ site: Site, _ store: StoreSettings, _ section: ConfigurationSection) {
        if case .sqlite = store {
            if site.proof != .none {
                section.report("proof", value: site.proof.rawValue, allowed: "none, with an SQLite store")
            }
            if let peer = site.peer {
                section.report(
                    "peer.name", value: peer.name.name, allowed: "no peer: an SQLite file belongs to one site")
            }
        }
        if site.peer?.name == site.name {
            section.report("peer.name", value: site.name.name, allowed: "another name than site.name")
        }
        if site.proof == .standby, site.replication == .asynchronous {
            section.report(
                "replication", value: "asynchronous",
                allowed: "synchronous, with site.proof standby: what is not waited for proves nothing")
        }
        if site.replication != .asynchronous, site.standby != nil || site.countUnconfirmedAfter != nil {
            section.report(
                site.standby != nil ? "standby" : "count_unconfirmed_after", value: "given",
                allowed: "only with site.replication asynchronous: elsewhere a commit waits by itself")
        }
        if site.proof != .none, site.skew.milliseconds * 4 > site.lease.milliseconds {
            section.report(
                "clock_skew", value: DurationText.render(site.skew), allowed: "at most a quarter of site.lease")
        }
        checkFence(site, section)
        if site.peer != nil, site.replication == .none {
            section.report(
                "replication", value: "none",
                allowed: "asynchronous or synchronous, with site.peer: how the other site's database follows")
        }
    }

    /// A site whose right to act nobody renews goes on when it is cut off, beside the other one.
    private static func checkFence(_ site: Site, _ section: ConfigurationSection) {
        let isUnfenced = site.peer != nil && site.proof == .none
        if isUnfenced, site.unfenced == nil {
            section.report(
                "proof", value: SiteProofKind.none.rawValue,
                allowed: "standby, postgres, kubernetes or dynamodb, with site.peer: else a site that is cut off acts "
                    + "beside the other one; where something else stops it, say what in site.unfenced")
        }
        guard let words = site.unfenced else { return }
        if !isUnfenced {
            section.report("unfenced", value: words, allowed: "only with site.peer and site.proof none")
        } else if !(8...200).contains(words.unicodeScalars.count) {
            section.report("unfenced", value: words, allowed: "8 to 200 characters: what stops a site that is cut off")
        }
    }
}
