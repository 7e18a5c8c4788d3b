/// One provider of a simulator.
public struct ProviderConfiguration: Codable, Sendable {
    /// How it is spoken to.
    public enum Wire: String, Codable, Sendable, CaseIterable {
        /// The reference contract, under `/{name}/transactions…`.
        case reference
        /// Stripe's PaymentIntents, under `/{name}/v1/…`.
        case stripe
        /// PayPay's direct debit, under `/{name}/v2/…`.
        case paypay
        /// Adyen's Checkout API, under `/{name}/v71/…`.
        case adyen
    }

    /// The first part of its paths, 1 to 32 of `a-z 0-9 -`.
    public var name: String
    /// How it is spoken to.
    public var wire: Wire
    /// The bearer token it accepts; nil: any. On PayPay's wire: `API_KEY:API_SECRET:MERCHANT_ID`. On Adyen's:
    /// `MERCHANT_ACCOUNT:API_KEY`.
    public var token: String?
    /// What its notifications are signed with, in hexadecimal; nil: they are not signed. Only on Adyen's wire.
    public var notificationKey: String?
    /// What it promises.
    public var contract: ContractOptions
    /// Faults by chance.
    public var rates: [FaultRate]

    /// A provider that keeps the reference contract unless told otherwise.
    public init(
        _ name: String, wire: Wire = .reference, token: String? = nil, contract: ContractOptions = ContractOptions(),
        rates: [FaultRate] = []
    ) {
        self.name = name
        self.wire = wire
        self.token = token
        self.contract = contract
        self.rates = rates
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case name, wire, token, contract, rates
        case notificationKey = "notification_key"
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        let wire = try container.decodeIfPresent(String.self, forKey: .wire) ?? Wire.reference.rawValue
        guard let known = Wire(rawValue: wire) else {
            throw decoder.refuse(CodingKeys.wire, Wire.allCases.map(\.rawValue).joined(separator: " or "))
        }
        self.wire = known
        token = try container.decodeIfPresent(String.self, forKey: .token)
        notificationKey = try container.decodeIfPresent(String.self, forKey: .notificationKey)
        contract = try container.decodeIfPresent(ContractOptions.self, forKey: .contract) ?? ContractOptions()
        rates = try container.decodeIfPresent([FaultRate].self, forKey: .rates) ?? []
    }
}

/// All that a simulator is told at its start.
public struct SimulatorConfiguration: Codable, Sendable {
    /// The address it listens on.
    ///
    /// The control API answers only callers on this machine, whatever stands here.
    public var host = "127.0.0.1"
    /// 0: any free port.
    public var port = 0
    /// The ledger's file; nil keeps it in memory.
    public var database: String?
    /// How soon a commit is on the disk.
    public var durability = Durability.normal
    /// What chance depends on.
    public var seed: UInt64 = 1
    /// Lets callers on other machines use the control API, for a simulator in a network of its own.
    public var allowRemoteControl = false
    /// The providers it plays.
    public var providers: [ProviderConfiguration]

    /// A simulator on a free port of the loopback, with its ledger in memory.
    public init(providers: [ProviderConfiguration]) {
        self.providers = providers
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case host, port, database, durability, seed, providers
        case allowRemoteControl = "allow_remote_control"
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        host = try container.decodeIfPresent(String.self, forKey: .host) ?? host
        port = try container.decodeIfPresent(Int.self, forKey: .port) ?? port
        database = try container.decodeIfPresent(String.self, forKey: .database)
        durability = try container.decodeIfPresent(Durability.self, forKey: .durability) ?? durability
        seed = try container.decodeIfPresent(UInt64.self, forKey: .seed) ?? seed
        allowRemoteControl = try container.decodeIfPresent(Bool.self, forKey: .allowRemoteControl) ?? false
        providers = try container.decodeIfPresent([ProviderConfiguration].self, forKey: .providers) ?? []
    }

    /// Refuses what cannot work, with the member's name.
    func validate() throws(SimulatorError) {
        guard (0...65_535).contains(port) else { throw SimulatorError(.configuration, "port: 0 to 65535") }
        guard !providers.isEmpty else { throw SimulatorError(.configuration, "providers: at least one") }
        var seen: Set<String> = []
        for provider in providers {
            let allowed = provider.name.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
            guard allowed, (1...32).contains(provider.name.utf8.count) else {
                throw SimulatorError(
                    .configuration, "providers: a name is 1 to 32 of a-z 0-9 -: \(provider.name)")
            }
            guard seen.insert(provider.name).inserted else {
                throw SimulatorError(.configuration, "providers: \(provider.name) is named twice")
            }
            guard provider.token?.isEmpty != true else {
                throw SimulatorError(.configuration, "providers: the token of \(provider.name) is empty")
            }
            if provider.wire == .adyen, let token = provider.token, AdyenKeys(token) == nil {
                throw SimulatorError(
                    .configuration, "providers: the token of \(provider.name) is not MERCHANT_ACCOUNT:API_KEY")
            }
            if let key = provider.notificationKey, AdyenNotices.bytes(ofHex: key) == nil {
                throw SimulatorError(
                    .configuration, "providers: the notification_key of \(provider.name) is not hexadecimal")
            }
            if provider.wire == .paypay, let token = provider.token, PayPayKeys(token) == nil {
                throw SimulatorError(
                    .configuration, "providers: the token of \(provider.name) is not API_KEY:API_SECRET:MERCHANT_ID")
            }
        }
    }
}
