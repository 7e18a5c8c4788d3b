public import PaymentCore

/// For whom a provider is asked, and for what. Callers take turns where a provider allows less than all of them ask
/// for.
public struct ProviderTurn: Sendable, Hashable {
    /// The caller of the payment.
    public let caller: CallerID
    /// Whether a charge is begun. What goes on with one comes first, so that what was begun is finished.
    public let begins: Bool

    /// A turn.
    public init(caller: CallerID, begins: Bool) {
        self.caller = caller
        self.begins = begins
    }

    /// That of this task; `nil` for what the daemon asks for by itself, such as a comparison.
    @TaskLocal public static var current: ProviderTurn?
}
