internal import HTTPTransport
public import PaymentCore
public import Reconciler

/// How a provider is spoken to, as `providers[].adapter` names it: its wire, and what its answers mean.
///
/// An adapter is a folder of this target, a value in ``all``, the contracts that fit its wire, and a page in
/// `docs/providers`. One contract suite judges every adapter (`Tests/ProvidersTests/ContractSuite`).
public struct ProviderAdapter: Sendable, Hashable {
    /// The name in the configuration.
    public let name: String
    /// The names of the contracts that fit its wire, for `contract.base`. The first is the default.
    public let contracts: [String]
    /// The contract of the adapter's own name, where ``ProviderContract/known`` has none: that of an in-house service
    /// is beside its adapter.
    var ownContract: ProviderContract?
    /// Whether a provider may count in units of its own (`conversion`).
    public let convertsAmounts: Bool
    /// Makes the reader of its notifications; `nil` where it has none.
    let notifications: (@Sendable (NotificationSecrets) -> any NotificationReader)?
    /// What its wire fixes of a contract: a configured value that differs is refused.
    let fixed: [FixedProperty]
    /// Whether an answer shows that the provider does not work, so that it is left alone for a while.
    var isFailure: @Sendable (HTTPResponse) -> Bool = { $0.status >= 500 }
    /// Makes what authorizes each request, last before the wire.
    var authorization: @Sendable (any TokenSource, any WallClock) -> any Middleware = { source, _ in
        TokenHeader(source: source)
    }
    /// What a token must look like, where this one looks otherwise. It never repeats the token.
    var tokenProblem: @Sendable (String) -> String? = { _ in nil }
    /// Makes a provider.
    let make: @Sendable (AdapterParts) -> any AdaptedProvider

    /// Every adapter. A new one is added here, and nowhere else.
    public static let all: [ProviderAdapter] = [.reference, .stripe, .payPay, .adyen]

    /// A contract that fits its wire, by name; `nil` if there is none of that name.
    public func contract(named name: String) -> ProviderContract? {
        guard contracts.contains(name) else { return nil }
        if name == self.name, let ownContract { return ownContract }
        return ProviderContract.known.first { $0.name == name }?.contract
    }

    /// The properties of a contract that the wire cannot keep.
    public func problems(with contract: ProviderContract) -> [(property: String, value: String, allowed: String)] {
        fixed.compactMap { fixed in
            let value = fixed.value(contract)
            guard !fixed.allowed.contains(value) else { return nil }
            let allowed = fixed.allowed.joined(separator: " or ")
            return (fixed.property, value, "\(allowed) with the adapter \(name): \(fixed.reason)")
        }
    }

    /// What a token must look like for this wire; `nil` if this one does. It never repeats the token.
    public func problem(withToken token: String) -> String? { tokenProblem(token) }

    /// Whether it has notifications.
    public var hasNotifications: Bool { notifications != nil }

    /// The reader of its notifications, by secrets that may be replaced; `nil` where it has none.
    public func notificationReader(_ secrets: NotificationSecrets) -> (any NotificationReader)? {
        notifications?(secrets)
    }

    /// By name.
    public static func == (left: ProviderAdapter, right: ProviderAdapter) -> Bool { left.name == right.name }
    /// By name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A property of a contract that an adapter fixes.
struct FixedProperty: Sendable {
    /// The key in the configuration.
    let property: String
    /// What may stand there.
    let allowed: [String]
    /// Why.
    let reason: String
    /// What stands there.
    let value: @Sendable (ProviderContract) -> String
}

/// A provider behind an adapter.
public protocol AdaptedProvider: PaymentProvider {
    /// Whether an amount can be charged here exactly as it is.
    ///
    /// - Throws: why not. The caller API answers 422 with it.
    func validate(_ amount: Money) throws(UnconvertibleAmount)
}

/// What an adapter makes a provider of.
struct AdapterParts: Sendable {
    /// The provider's name in the configuration.
    let name: ProviderName
    /// What it can do.
    let contract: ProviderContract
    /// The store whose transactions are sent; `nil` names none.
    let store: StoreID?
    /// How amounts are counted, if not in minor units of the currency.
    let conversion: AmountConversion?
    /// Sends the requests.
    let client: ProviderClient
    /// The time, for the beginning of reads and for `Retry-After`.
    let clock: any WallClock
    /// Where the credentials come from, for a wire whose bodies name the account.
    let tokens: any TokenSource
}
