/// What an operator says about rows that were lost, before it is believed.
public struct RecoveryClaim: Sendable, Hashable {
    /// How they were lost.
    public var loss: RecoveryWindow.Loss
    /// The first moment at which nobody writes to the lost rows' store any more: its end, its fencing, the promotion.
    public var at: Timestamp
    /// From when reads shall count; `nil` for the earliest moment that is safe.
    public var readsCountFrom: Timestamp?
    /// Whether what was acknowledged before the loss shall still count; `nil` for what the kind of loss allows.
    public var acknowledgementsKept: Bool?
    /// The longest `maxRequestLife` under which requests were ever sent, if a contract had a longer one than now.
    public var longestRequestLife: Span?
    /// Whether the listings of both sides over the time of the loss were compared.
    public var listingCompared: Bool

    /// A claim that leaves everything else to the safe default.
    public init(_ loss: RecoveryWindow.Loss, at: Timestamp) {
        self.loss = loss
        self.at = at
        listingCompared = false
    }

    /// The window: reads count from the claimed moment, but never before the earliest that is safe.
    public func window(contracts: [ProviderContract]) -> RecoveryWindow {
        var window = earliestWindow(contracts)
        window.readsCountFrom = max(window.readsCountFrom, readsCountFrom ?? window.readsCountFrom)
        return window
    }

    /// What is wrong with the claim; empty if the window can be opened.
    public func traps(contracts: [ProviderContract]) -> [ContractTrap] {
        var traps: [ContractTrap] = []
        let earliest = earliestWindow(contracts).readsCountFrom
        if let readsCountFrom, readsCountFrom < earliest {
            let (sum, runs) =
                effectiveLoss.keepsAcknowledgedRows
                ? ("at + clock_skew + visibility_lag", "run C12")
                : ("at + max_request_life + clock_skew + visibility_lag", "runs W3 and W5")
            traps.append(
                ContractTrap(.recoveryReadsTooEarly, "\(earliest.rfc3339) or later, which is after \(sum) (\(runs))"))
        }
        if acknowledgementsKept == true, !loss.keepsAcknowledgedRows {
            traps.append(
                ContractTrap(
                    .recoveryCountsAcknowledgements,
                    "only kind 'promotion' keeps what was acknowledged; after a restore or an asynchronous promotion "
                        + "no earlier acknowledgement counts (runs C2 and W1)"))
        }
        return traps
    }

    /// Whether the store may have lost what it acknowledged, and may again: its standby is asynchronous.
    public var storeIsAsynchronous: Bool { effectiveLoss == .asynchronousPromotion }

    /// A promotion whose operator does not vouch for what was acknowledged is as good as an asynchronous one.
    private var effectiveLoss: RecoveryWindow.Loss {
        loss == .promotion && acknowledgementsKept == false ? .asynchronousPromotion : loss
    }

    private func earliestWindow(_ contracts: [ProviderContract]) -> RecoveryWindow {
        .opened(
            by: effectiveLoss, at: at, contracts: contracts, longestRequestLife: longestRequestLife,
            listingCompared: listingCompared)
    }
}
