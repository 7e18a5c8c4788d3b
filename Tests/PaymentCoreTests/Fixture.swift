import PaymentCore

/// Names, amounts and contracts that the tests share.
struct Fixture {
    let yen: Currency
    let caller: CallerID
    let key: IdempotencyKey
    let start = Timestamp(milliseconds: 1_790_000_000_000)

    init() throws {
        guard let yen = Currency(code: "JPY") else { throw Missing(what: "JPY") }
        self.yen = yen
        caller = try CallerID("shop")
        key = try IdempotencyKey("order-1")
    }

    /// Something that a test relies on is not there.
    struct Missing: Error {
        let what: String
    }

    func amount(_ value: Int64) throws -> Money { try Money(value, yen) }

    /// The provider of leg `index`.
    func provider(_ index: Int) throws -> ProviderName { try ProviderName("provider-\(index)") }

    /// A request with one leg for each contract: 1000, 1100, 1200, ...
    func request(
        _ contracts: [ProviderContract], _ mode: CaptureMode = .automatic, deadline: Timestamp? = nil,
        returnURL: WebAddress? = nil
    ) throws -> CreateRequest {
        let amounts = try contracts.indices.map { try amount(1_000 + 100 * Int64($0)) }
        let legs = try contracts.indices.map {
            CreateRequest.Leg(
                provider: try provider($0), instrument: try Instrument(token: "tok_\($0)"), amount: amounts[$0])
        }
        return try CreateRequest(
            caller: caller, key: key, amount: try Money.sum(amounts, in: yen), legs: legs, captureMode: mode,
            reference: "cart", metadata: ["channel": "web"], deadline: deadline, returnURL: returnURL,
            contracts: try byName(contracts))
    }

    /// A payment on stage, with one leg for each contract.
    func stage(
        _ contracts: [ProviderContract], _ mode: CaptureMode = .automatic, plug: Bool = false,
        acknowledged: Bool = true, deadline: Timestamp? = nil, returnURL: WebAddress? = nil,
        send: [Stage.SendFault] = [],
        read: [Stage.ReadFault] = [], prepare: (inout Ledger) -> Void = { _ in }
    ) throws -> Stage {
        var policy = SettlementPolicy()
        policy.plugAllowed = plug
        return Stage(
            try request(contracts, mode, deadline: deadline, returnURL: returnURL), contracts: try byName(contracts),
            at: start,
            policy: policy, commitsAreAcknowledged: acknowledged, send: send, read: read, prepare: prepare)
    }

    func byName(_ contracts: [ProviderContract]) throws -> [ProviderName: ProviderContract] {
        var named: [ProviderName: ProviderContract] = [:]
        for (index, contract) in contracts.enumerated() { named[try provider(index)] = contract }
        return named
    }
}

extension ProviderContract {
    /// No tombstone, but a `not_after` that is enforced: what is undone waits for its proof (A8 of the model).
    static let enforcing: ProviderContract = {
        var contract = ProviderContract.reference
        contract.cancel = .onlyIfPresent
        return contract
    }()

    /// Keys that are forgotten after an hour, reads that lag, tombstones.
    static let forgetful: ProviderContract = {
        var contract = ProviderContract.reference
        contract.keyRetention = .hours(1)
        contract.visibilityLag = .seconds(20)
        contract.authorizationLife = .hours(12)
        return contract
    }()

    /// It cannot be asked, and leaves no tombstone: what is in doubt is sent again, to be done or to be undone.
    static let unaskable = cannotBeAsked(.authorizeCapture)

    /// The same, and its keys are forgotten after a week.
    static let unaskableForAWeek = cannotBeAsked(.authorizeCapture) { $0.keyRetention = .days(7) }

    /// It cannot be asked, and a cancel under the own key leaves a tombstone.
    static let unaskableTombstoning = cannotBeAsked(.authorizeCapture) { $0.cancel = .tombstoning }

    /// It cannot be asked, and executes nothing after its `not_after`.
    static let unaskableEnforcing = cannotBeAsked(.authorizeCapture) { $0.enforcesNotAfter = true }

    /// It cannot be asked, and takes money in one step.
    static let unaskableSale = cannotBeAsked(.sale)

    private static func cannotBeAsked(
        _ phases: Phases, _ change: (inout ProviderContract) -> Void = { _ in }
    ) -> ProviderContract {
        var contract = ProviderContract(phases: phases)
        contract.inquiry = .byResend
        contract.listing = false
        contract.cancel = .onlyIfPresent
        contract.enforcesNotAfter = false
        change(&contract)
        return contract
    }
}
