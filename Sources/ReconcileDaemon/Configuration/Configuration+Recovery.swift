import PaymentCore

extension Configuration {
    /// What `store.recovery` says; `nil` if it is not there.
    static func readRecoveryClaim(_ store: ConfigurationSection) -> RecoveryClaim? {
        let section = store.section("recovery")
        defer { section.finish() }
        let keys = [
            "kind", "at", "reads_count_from", "acknowledgements_kept", "longest_request_life", "listing_compared",
        ]
        guard section.has(anyOf: keys) else { return nil }
        let kinds = RecoveryWindow.Loss.allCases.map(\.rawValue).joined(separator: ", ")
        if section.text("kind") == nil { section.report("kind", value: "", allowed: "one of \(kinds)") }
        if section.text("at") == nil {
            section.report("at", value: "", allowed: "when the store that lost rows was written for the last time")
        }
        var claim = RecoveryClaim(
            section.choice("kind", default: .restore), at: section.moment("at") ?? Timestamp(milliseconds: 0))
        claim.readsCountFrom = section.moment("reads_count_from")
        if section.text("acknowledgements_kept") != nil {
            claim.acknowledgementsKept = section.bool("acknowledgements_kept", default: false)
        }
        if section.text("longest_request_life") != nil {
            claim.longestRequestLife = section.duration("longest_request_life", default: .milliseconds(1))
        }
        claim.listingCompared = section.bool("listing_compared", default: false)
        return claim
    }

    /// The window that a claim opens, with its traps reported.
    static func openWindow(
        _ claim: RecoveryClaim?, _ contracts: [ProviderContract], _ store: ConfigurationSection
    ) -> RecoveryWindow? {
        guard let claim else { return nil }
        // A lag without a bound has a trap of its own; here it would only name the end of time.
        let contracts = contracts.filter { $0.visibilityLag < ProviderContract.unboundedLag }
        for trap in claim.traps(contracts: contracts) {
            let key = trap.name == .recoveryReadsTooEarly ? "reads_count_from" : "acknowledgements_kept"
            store.report("recovery.\(key)", value: trap.name.rawValue, allowed: trap.explanation)
        }
        return claim.window(contracts: contracts)
    }
}
