/// A contract or a configuration that no decision can make safe. The daemon refuses to start with it and names it.
public struct ContractTrap: Error, Sendable, Hashable, CustomStringConvertible {
    /// The traps, by the names under which they are documented.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// Keys expire, and the status cannot be asked: an old effect in doubt could never be settled.
        case noInquiryAndKeysExpire = "no-inquiry-and-keys-expire"
        /// The status cannot be asked. Asking is how every doubt is settled here; an adapter that can only send again
        /// would need a proof of its own.
        case noInquiry = "no-inquiry"
        /// Nothing can be asked and nothing canceled.
        case noInquiryAndNoCancel = "no-inquiry-and-no-cancel"
        /// The same key is executed twice, or may be by the time that a request arrives.
        case keysNotIdempotent = "keys-not-idempotent"
        /// No tombstone, no enforced `not_after`, and sending again to be able to void is not allowed: what is to be
        /// undone could only be quarantined (run A14 of the model).
        case undoImpossible = "undo-impossible"
        /// A one-phase provider on a store that may lose acknowledged rows.
        case onePhaseOnAsynchronousStore = "one-phase-on-asynchronous-store"
        /// A status read may be stale for so long that a proof would come after the key or the status is forgotten.
        case statusForgottenBeforeProof = "status-forgotten-before-proof"
        /// A bound or limit that is zero or negative.
        case senselessLimit = "senseless-limit"
    }

    /// Which trap it is.
    public let name: Name
    /// What is wrong, and what would be allowed.
    public let explanation: String

    public var description: String { "\(name.rawValue): \(explanation)" }
}

/// What the configuration promises around the contracts.
public struct SafetyAssumptions: Sendable, Hashable {
    /// Whether the store keeps every acknowledged row across the loss of one machine.
    public var storeKeepsAcknowledgedRows: Bool
    /// Whether a key may be sent again in order to void or refund it (the plug).
    public var plugAllowed: Bool
    /// Whether a one-phase provider may be used although the store may lose rows, said in words by the operator.
    public var onePhaseOnAsynchronousStoreAccepted: Bool

    /// The defaults are the safe ones.
    public init(
        storeKeepsAcknowledgedRows: Bool = true, plugAllowed: Bool = false,
        onePhaseOnAsynchronousStoreAccepted: Bool = false
    ) {
        self.storeKeepsAcknowledgedRows = storeKeepsAcknowledgedRows
        self.plugAllowed = plugAllowed
        self.onePhaseOnAsynchronousStoreAccepted = onePhaseOnAsynchronousStoreAccepted
    }
}

extension ProviderContract {
    /// Everything that makes this contract unusable under the assumptions; empty if it can be made safe.
    public func traps(under assumptions: SafetyAssumptions) -> [ContractTrap] {
        var traps: [ContractTrap] = []
        func trap(_ name: ContractTrap.Name, _ explanation: String) {
            traps.append(ContractTrap(name: name, explanation: explanation))
        }
        if inquiry == .none, keyRetention != nil {
            trap(.noInquiryAndKeysExpire, "inquiry 'none' needs keys that are kept for ever")
        }
        if inquiry == .none, keyRetention == nil, cancel != .none {
            trap(.noInquiry, "one of by_own_key, by_listing")
        }
        if inquiry == .none, cancel == .none {
            trap(.noInquiryAndNoCancel, "inquiry 'none' needs a cancel under the own key")
        }
        if let age = safeResendAge, age <= .zero, !enforcesNotAfter {
            trap(
                .keysNotIdempotent,
                "key_retention must exceed max_request_life + clock_skew, or the provider must enforce not_after")
        }
        if cancel != .tombstoning, !enforcesNotAfter, !assumptions.plugAllowed {
            trap(
                .undoImpossible,
                "needs cancel 'tombstoning', or enforces_not_after, or reconcile.allow_plug: true")
        }
        if phases == .sale, !assumptions.storeKeepsAcknowledgedRows,
            !assumptions.onePhaseOnAsynchronousStoreAccepted
        {
            trap(
                .onePhaseOnAsynchronousStore,
                "a one-phase provider needs a store that keeps acknowledged rows, or the risk accepted in words")
        }
        if let retention = statusRetention, retention <= maxRequestLife + proofMargin {
            trap(
                .statusForgottenBeforeProof,
                "status_retention must exceed max_request_life + clock_skew + visibility_lag")
        }
        if requestsPerSecond < 1 || concurrency < 1 || maxRequestLife <= .zero || clockSkew < .zero
            || visibilityLag < .zero
        {
            trap(
                .senselessLimit,
                "requests_per_second and concurrency must be at least 1, max_request_life above 0, others not negative"
            )
        }
        return traps
    }
}
