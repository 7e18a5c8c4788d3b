/// A contract or a configuration that no decision can make safe. The daemon refuses to start with it and names it.
public struct ContractTrap: Error, Sendable, Hashable, CustomStringConvertible {
    /// The traps, by the names under which they are documented.
    public enum Name: String, Sendable, Hashable, CaseIterable {
        /// Keys expire, and the status cannot be asked: an old effect in doubt could never be settled.
        case noInquiryAndKeysExpire = "no-inquiry-and-keys-expire"
        /// The status cannot be asked. Asking is how every doubt is settled here; an adapter that can only send again
        /// would need a proof of its own.
        case noInquiry = "no-inquiry"
        /// The status can only be learned by sending again, and an answer to that would not tell everything.
        case resendTellsTooLittle = "resend-tells-too-little"
        /// The status can only be learned by sending again, on a store that may lose acknowledged rows: nobody would
        /// know what to send again.
        case resendOnAsynchronousStore = "resend-on-asynchronous-store"
        /// Nothing can be asked and nothing canceled.
        case noInquiryAndNoCancel = "no-inquiry-and-no-cancel"
        /// The same key is executed twice, or may be by the time that a copy of a request arrives (runs 3, 15, 17).
        case keysNotIdempotent = "keys-not-idempotent"
        /// Keys drawn by chance: whoever lost the row asks again under another key (run 18).
        case randomKeys = "random-keys"
        /// No tombstone, no enforced `not_after`, and sending again to be able to void is not allowed: what is to be
        /// undone could only be quarantined (runs 4 and A14).
        case undoImpossible = "undo-impossible"
        /// A one-phase provider on a store that may lose acknowledged rows (runs 20, 21).
        case onePhaseOnAsynchronousStore = "one-phase-on-asynchronous-store"
        /// Refunds that are shown as a sum, on a store that may lose acknowledged rows: a refund whose row was lost
        /// cannot be told from one that was never made.
        case sumsOnlyOnAsynchronousStore = "sums-only-on-asynchronous-store"
        /// Keys or statuses that are forgotten, on a store that may lose acknowledged rows: after the loss, what is not
        /// found may have been charged under a key that would charge again.
        case retentionOnAsynchronousStore = "retention-on-asynchronous-store"
        /// A status read may be stale for so long that a proof would come after the key or the status is forgotten.
        case statusForgottenBeforeProof = "status-forgotten-before-proof"
        /// A status read may be stale for any time: no read ever proves anything (runs 7, 7b).
        case staleReadsUnbounded = "stale-reads-unbounded"
        /// Reads may be stale for as long as a key may be sent again, and sending again is the only way to undo.
        case staleReadsOutlastKeys = "stale-reads-outlast-keys"
        /// A request may leave so late, and take so long, that it is executed after it counts as dead (runs 5, 16).
        case requestsOutliveTheirLimit = "requests-outlive-their-limit"
        /// Reads after lost rows would count before they show what the lost rows' owner did (runs C12, W3, W5).
        case recoveryReadsTooEarly = "recovery-reads-too-early"
        /// Acknowledgements would count although the rows that they were for may be lost (runs C2, W1).
        case recoveryCountsAcknowledgements = "recovery-counts-acknowledgements"
        /// A bound or limit that is zero or negative.
        case senselessLimit = "senseless-limit"
    }

    /// Which trap it is.
    public let name: Name
    /// What is wrong, and what would be allowed.
    public let explanation: String

    public var description: String { "\(name.rawValue): \(explanation)" }

    /// A trap, with what would be allowed in words.
    init(_ name: Name, _ explanation: String) {
        self.name = name
        self.explanation = explanation
    }

    /// What a configuration that asks for random keys is told.
    public static let randomKeys = ContractTrap(
        .randomKeys,
        "keys are derived from the request, so that after lost rows the same request has the same keys; "
            + "key_format is one of " + KeyFormat.allCases.map(\.rawValue).joined(separator: ", "))
}

/// What the configuration promises around the contracts.
public struct SafetyAssumptions: Sendable, Hashable {
    /// Whether the store keeps every acknowledged row across the loss of one machine.
    public var storeKeepsAcknowledgedRows: Bool
    /// Whether a key may be sent again in order to void or refund it (the plug).
    public var plugAllowed: Bool
    /// Whether a one-phase provider may be used although the store may lose rows, said in words by the operator.
    public var onePhaseOnAsynchronousStoreAccepted: Bool

    /// The longest time between two inquiries about one leg.
    public var longestInquiryPause: Span

    /// The defaults are the safe ones.
    public init(
        storeKeepsAcknowledgedRows: Bool = true, plugAllowed: Bool = false,
        onePhaseOnAsynchronousStoreAccepted: Bool = false, longestInquiryPause: Span = .days(1)
    ) {
        self.longestInquiryPause = longestInquiryPause
        self.storeKeepsAcknowledgedRows = storeKeepsAcknowledgedRows
        self.plugAllowed = plugAllowed
        self.onePhaseOnAsynchronousStoreAccepted = onePhaseOnAsynchronousStoreAccepted
    }
}

extension ProviderContract {
    /// The `visibilityLag` of a provider that promises no bound. No decision is safe with it: it is refused.
    public static let unboundedLag = Span(milliseconds: .max)

    /// Everything that makes this contract unusable under the assumptions; empty if it can be made safe.
    public func traps(under assumptions: SafetyAssumptions) -> [ContractTrap] {
        inquiryTraps + resendTraps(assumptions) + keyTraps + readTraps(assumptions) + undoTraps(assumptions)
            + limitTraps
    }

    private var inquiryTraps: [ContractTrap] {
        guard inquiry == .none else { return [] }
        var traps: [ContractTrap] = []
        if keyRetention != nil {
            traps.append(.init(.noInquiryAndKeysExpire, "inquiry 'none' needs keys that are kept for ever"))
        } else if cancel != .none {
            traps.append(.init(.noInquiry, "inquiry is one of by_own_key, by_listing, by_resend"))
        }
        if cancel == .none {
            traps.append(.init(.noInquiryAndNoCancel, "inquiry 'none' needs a cancel under the own key"))
        }
        return traps
    }

    /// What is in doubt is sent again, so the answer must bind; everything else is known from our own rows, so nothing
    /// may be known that only the provider has.
    private func resendTraps(_ assumptions: SafetyAssumptions) -> [ContractTrap] {
        guard inquiry == .byResend else { return [] }
        var needed: [String] = []
        if !declinesBound { needed.append("declines_bound: true") }
        if listing { needed.append("listing: false (a provider that lists is asked by_listing)") }
        if refundVisibility != .byKey { needed.append("refund_visibility: by_key") }
        if cancelReversesSale { needed.append("cancel_reverses_sale: false") }
        if visibilityLag != .zero { needed.append("visibility_lag: 0s") }
        if statusRetention != nil { needed.append("no status_retention") }
        var traps: [ContractTrap] = []
        if !needed.isEmpty {
            traps.append(
                .init(.resendTellsTooLittle, "inquiry 'by_resend' needs \(needed.joined(separator: ", "))"))
        }
        if !assumptions.storeKeepsAcknowledgedRows {
            traps.append(
                .init(
                    .resendOnAsynchronousStore,
                    "inquiry 'by_resend' needs a store that keeps acknowledged rows"))
        }
        return traps
    }

    /// An enforced `not_after` does not help keys that are forgotten before it: a copy that the network makes is
    /// executed as well (run 17 is safe because `not_after` comes before the end of the retention).
    private var keyTraps: [ContractTrap] {
        guard let age = safeResendAge, age <= .zero else { return [] }
        return [
            .init(
                .keysNotIdempotent,
                "key_retention must exceed max_request_life + clock_skew: a key is executed once for as long as a "
                    + "request under it may arrive")
        ]
    }

    private func readTraps(_ assumptions: SafetyAssumptions) -> [ContractTrap] {
        guard visibilityLag < ProviderContract.unboundedLag else {
            return [
                .init(
                    .staleReadsUnbounded,
                    "visibility_lag must have a bound: a read that may be stale for any time never proves that "
                        + "nothing happened")
            ]
        }
        var traps: [ContractTrap] = []
        if let age = safeResendAge, age > .zero, visibilityLag >= age, cancel != .tombstoning, !enforcesNotAfter {
            traps.append(
                .init(
                    .staleReadsOutlastKeys,
                    "visibility_lag must be below key_retention - max_request_life - clock_skew, or the provider "
                        + "must offer cancel 'tombstoning' or enforces_not_after"))
        }
        let needed = max(maxRequestLife, assumptions.longestInquiryPause) + proofMargin
        if let retention = statusRetention, retention <= needed {
            traps.append(
                .init(
                    .statusForgottenBeforeProof,
                    "status_retention must exceed clock_skew + visibility_lag + the longer of max_request_life and "
                        + "the last entry of reconcile.inquiry_schedule: a status must not come and go between two "
                        + "inquiries"))
        }
        return traps
    }

    private func undoTraps(_ assumptions: SafetyAssumptions) -> [ContractTrap] {
        var traps: [ContractTrap] = []
        if inquiry == .byResend, !assumptions.plugAllowed {
            traps.append(.init(.undoImpossible, "inquiry 'by_resend' needs reconcile.allow_plug: true"))
        } else if cancel != .tombstoning, !enforcesNotAfter, !assumptions.plugAllowed {
            traps.append(
                .init(
                    .undoImpossible,
                    "needs cancel 'tombstoning', or enforces_not_after, or reconcile.allow_plug: true"))
        }
        if phases == .sale, !assumptions.storeKeepsAcknowledgedRows,
            !assumptions.onePhaseOnAsynchronousStoreAccepted
        {
            traps.append(
                .init(
                    .onePhaseOnAsynchronousStore,
                    "a one-phase provider needs a store that keeps acknowledged rows, or the risk accepted in words"))
        }
        if refundVisibility == .sumsOnly, !assumptions.storeKeepsAcknowledgedRows {
            traps.append(
                .init(
                    .sumsOnlyOnAsynchronousStore,
                    "a provider that shows only the sum of refunds needs a store that keeps acknowledged rows"))
        }
        if keyRetention != nil || statusRetention != nil, !assumptions.storeKeepsAcknowledgedRows {
            traps.append(
                .init(
                    .retentionOnAsynchronousStore,
                    "a provider that forgets keys or statuses needs a store that keeps acknowledged rows"))
        }
        return traps
    }

    private var limitTraps: [ContractTrap] {
        let isSenseless =
            requestsPerSecond < 1 || (endpointRequestsPerSecond ?? 1) < 1 || concurrency < 1
            || maxRequestLife <= .zero || clockSkew < .zero || visibilityLag < .zero
        guard isSenseless else { return [] }
        return [
            .init(
                .senselessLimit,
                "requests_per_second, endpoint_requests_per_second and concurrency must be at least 1, "
                    + "max_request_life above 0, others not negative")
        ]
    }

    /// What is wrong with time limits under which a request may still be on its way when it counts as dead: its first
    /// byte may leave `sendWithin` after the intent, and the exchange may take `total`. `nil` if they fit.
    public func trap(sendWithin: Span, total: Span) -> ContractTrap? {
        guard sendWithin + total + .seconds(1) > maxRequestLife else { return nil }
        return ContractTrap(
            .requestsOutliveTheirLimit,
            "max_request_life, which is \(maxRequestLife.milliseconds)ms, must exceed reconcile.send_within + "
                + "timeouts.total by a second")
    }
}
