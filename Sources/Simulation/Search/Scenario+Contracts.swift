internal import PaymentCore

/// The contracts of the worlds that are searched: one habit of a provider in each.
extension Scenario {
    private static func contract(
        _ phases: ProviderContract.Phases = .authorizeCapture, _ change: (inout ProviderContract) -> Void = { _ in }
    ) -> ProviderContract {
        var contract = ProviderContract(phases: phases)
        contract.enforcesNotAfter = false
        contract.clockSkew = .zero
        change(&contract)
        return contract
    }

    /// A known contract by one clock: the steps of a worker are shorter than its skew.
    static func aligned(_ known: ProviderContract) -> ProviderContract {
        var contract = known
        contract.clockSkew = .zero
        return contract
    }

    /// Its lag is one that is longer than the steps of a worker, as its ten seconds are not.
    static let laggingStripe: ProviderContract = {
        var contract = aligned(.stripe)
        contract.visibilityLag = .minutes(1)
        return contract
    }()

    static let tombstone = contract()
    static let unbound = contract { $0.declinesBound = false }
    static let plug = contract { $0.cancel = .onlyIfPresent }
    static let plugUnbound = contract {
        $0.cancel = .onlyIfPresent
        $0.declinesBound = false
    }
    static let notAfter = contract {
        $0.cancel = .onlyIfPresent
        $0.enforcesNotAfter = true
    }
    static let notAfterUnbound = contract {
        $0.cancel = .onlyIfPresent
        $0.enforcesNotAfter = true
        $0.declinesBound = false
    }
    static let lagging = contract { $0.visibilityLag = .seconds(60) }
    static let notAfterLagging = contract {
        $0.cancel = .onlyIfPresent
        $0.enforcesNotAfter = true
        $0.visibilityLag = .seconds(60)
    }
    static let forgetful = contract { $0.keyRetention = .hours(24) }
    static let forgettingAll = contract {
        $0.keyRetention = .hours(24)
        $0.statusRetention = .hours(24)
    }
    static let forgettingAllSale = contract(.sale) {
        $0.keyRetention = .hours(24)
        $0.statusRetention = .hours(24)
    }
    static let forgettingStatus = contract(.sale) {
        $0.cancel = .onlyIfPresent
        $0.enforcesNotAfter = true
        $0.statusRetention = .hours(1)
    }
    static let sale = contract(.sale)
    static let reversingSale = contract(.sale) { $0.cancelReversesSale = true }
    static let reversingUnboundSale = contract(.sale) {
        $0.cancelReversesSale = true
        $0.declinesBound = false
    }
    static let notAfterSale = contract(.sale) {
        $0.cancel = .onlyIfPresent
        $0.enforcesNotAfter = true
    }
    static let plugSale = contract(.sale) { $0.cancel = .onlyIfPresent }

    private static func unaskable(
        _ phases: ProviderContract.Phases = .authorizeCapture, _ change: (inout ProviderContract) -> Void = { _ in }
    ) -> ProviderContract {
        contract(phases) {
            $0.inquiry = .byResend
            $0.listing = false
            $0.cancel = .onlyIfPresent
            change(&$0)
        }
    }

    static let unaskable = unaskable()
    static let unaskableForgetful = unaskable { $0.keyRetention = .hours(24) }
    static let unaskableForgetfulSale = unaskable(.sale) { $0.keyRetention = .hours(24) }
    static let unaskableTombstone = unaskable { $0.cancel = .tombstoning }
    static let unaskableSale = unaskable(.sale)
    static let unaskableEnforcing = unaskable { $0.enforcesNotAfter = true }
}
