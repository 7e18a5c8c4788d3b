import PaymentCore
import Testing

/// A payment's fixture beside the names of two regions of a provider.
struct RegionFixture {
    let payments: Fixture
    let west: KeySpace
    let east: KeySpace

    init() throws {
        payments = try Fixture()
        west = try #require(KeySpace("api-west.example.com"))
        east = try #require(KeySpace("api-east.example.com:8443"))
    }

    /// A contract whose keys are kept in a region.
    func contract(_ space: KeySpace, _ base: ProviderContract = .reference) -> ProviderContract {
        var contract = base
        contract.keySpace = space
        return contract
    }
}

/// Two regions of every provider, which share no keys. The configuration names one of them.
struct Regions {
    /// The region that is configured now, and the other one.
    private(set) var here: KeySpace
    private(set) var there: KeySpace
    /// The ledgers of the region that is not configured.
    var ledgersThere: [ProviderName: Ledger]

    /// Regions whose ledgers there are empty.
    init(here: KeySpace, there: KeySpace, ledgersThere: [ProviderName: Ledger]) {
        (self.here, self.there, self.ledgersThere) = (here, there, ledgersThere)
    }

    mutating func swap() { (here, there) = (there, here) }
}

extension Stage {
    /// The configuration names the other region from now on: its holder is started anew.
    mutating func moveToOtherRegion() {
        guard var regions else { return }
        swap(&ledgers, &regions.ledgersThere)
        regions.swap()
        self.regions = regions
        for provider in contracts.keys { contracts[provider]?.keySpace = regions.here }
        crash()
    }

    /// The ledgers of a provider in all of its regions.
    func ledgersEverywhere(_ provider: ProviderName) -> [Ledger] {
        [ledgers[provider], regions?.ledgersThere[provider]].compactMap { $0 }
    }

    /// Executes a copy of a request in the region to which it was sent; `nil` if there is no such provider.
    mutating func execute(_ copy: Copy) -> AttemptReport? {
        let provider = copy.order.provider
        guard let regions, copy.region == regions.there else {
            return ledgers[provider]?.execute(copy.order, at: now)
        }
        return self.regions?.ledgersThere[provider]?.execute(copy.order, at: now)
    }
}
