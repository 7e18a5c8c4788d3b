import Foundation
import HTTPTransport
import PaymentCore
import Reconciler

/// Asks the other site's daemon which term it knows, at `/v1/site` of the address at which callers reach it.
struct PeerClient: SitePeer {
    /// What is read of the answer.
    private struct Word: Decodable {
        let site: String
        let store: String?
        let activeSite: String?
        let epoch: Int64?

        enum CodingKeys: String, CodingKey {
            case site, store, epoch
            case activeSite = "active_site"
        }
    }

    private let sender: CurlSender
    private let url: String
    private let name: SiteName
    private let store: StoreID?

    /// A client for a peer whose address is known; `nil` for one without.
    ///
    /// - Parameter store: the identity of this site's store. Another store's terms say nothing here.
    init?(_ site: Configuration.Site, store: StoreID?) {
        guard let peer = site.peer, let address = peer.address else { return nil }
        var wire = CurlConfiguration(
            maximumConnections: 1, caBundlePath: site.peerCABundle,
            allowPlainHTTP: address.lowercased().hasPrefix("http://"))
        wire.clientCertificate = site.peerCertificate
        sender = CurlSender(configuration: wire)
        url = (address.hasSuffix("/") ? String(address.dropLast()) : address) + "/v1/site"
        name = peer.name
        self.store = store
    }

    /// The newest term that it knows. It is waited for two seconds at most.
    func newestTerm() async -> PeerAnswer {
        let limit = Duration.seconds(2)
        let request = HTTPRequest(
            method: .get, url: url, limits: TimeLimits(connect: limit, tls: limit, firstByte: limit, total: limit),
            maximumResponseBytes: 4_096, label: "peer")
        do throws(TransportFailure) {
            return PeerClient.read(try await sender.send(request), from: name, of: store)
        } catch {
            return .silent("no answer: \(error.code.rawValue)")
        }
    }

    /// What an answer says to a site with this peer and this store.
    static func read(_ response: HTTPResponse, from name: SiteName, of store: StoreID?) -> PeerAnswer {
        guard response.status == 200 else { return .silent("its address answers \(response.status)") }
        let word: Word
        do {
            word = try JSONDecoder().decode(Word.self, from: Data(response.body))
        } catch {
            return .silent("its address answers something else than a site does")
        }
        guard word.site == name.name else {
            return .silent("its address leads to another site: site.peer.url must name the daemons of '\(name)' alone")
        }
        guard let store, word.store == store.text else { return .silent("it works on another store") }
        guard let epoch = word.epoch, epoch >= 0 else { return .silent("it has not read its own store yet") }
        do {
            return .knows(epoch: epoch, site: try word.activeSite.map { try SiteName($0) })
        } catch {
            return .silent("it names an active site whose name is none")
        }
    }

    /// Ends its connections.
    func shutdown() async { await sender.shutdown() }
}
