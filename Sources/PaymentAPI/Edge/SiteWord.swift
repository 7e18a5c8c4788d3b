public import PaymentCore
internal import StrictJSON

/// What a site says of itself to whoever asks, so that its peer never acts in an older term beside it. It holds
/// nothing of payments, and needs no token.
public struct SiteWord: Sendable, Hashable {
    /// The site that answers.
    public var site: SiteName
    /// The identity of its store, the same at both sites; `nil` where it has none.
    public var store: StoreID?
    /// The site that is active in the newest term that its store knows; `nil` if no site ever was, or if the store was
    /// not read yet.
    public var activeSite: SiteName?
    /// The number of that term.
    public var epoch: Int64?

    /// What a site says.
    public init(site: SiteName, store: StoreID?, activeSite: SiteName?, epoch: Int64?) {
        self.site = site
        self.store = store
        self.activeSite = activeSite
        self.epoch = epoch
    }

    var document: JSONValue {
        .members([
            "site": .string(site.name), "store": .optional(store?.text), "active_site": .optional(activeSite?.name),
            "epoch": epoch.map { .integer($0) } ?? .null,
        ])
    }
}
