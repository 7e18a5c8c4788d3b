import PaymentCore
import PostgresStore

extension Configuration {
    /// What is allowed, and should be known: `check-config` and the log at the start say it.
    var warnings: [String] { unverifiedServers + comparison.unreadable(providers) }

    /// What is said of databases whose servers are not verified.
    var unverifiedServers: [String] {
        var servers: [(key: String, PostgresStoreConfiguration)] = []
        if case .postgres(let settings) = store { servers.append(("store.url", settings)) }
        if case .postgres(let settings) = site.witness { servers.append(("site.witness.url", settings)) }
        return servers.compactMap { key, settings in
            guard case .unverified(let mode) = settings.serverTrust else { return nil }
            return "\(key): the server is not verified (sslmode is '\(mode)'): whoever answers for its host may read "
                + "and change what is kept there; allowed: sslmode=verify-full with sslrootcert"
        }
    }
}

extension Configuration.Comparison {
    /// What is said of windows that a provider's statuses do not outlast. It is asked for a key before anything is
    /// called a difference: what changed at the beginning of a window should still be readable once the window is
    /// compared (seed 27336791580121).
    func unreadable(_ providers: [Configuration.Provider]) -> [String] {
        guard isEnabled else { return [] }
        return providers.filter(\.contract.listing).compactMap { provider in
            guard let retention = provider.contract.statusRetention else { return nil }
            let longest = retention - ComparisonSchedule.delay(provider.contract, settings)
            guard settings.window >= longest else { return nil }
            let shown = "\(provider.name) shows a status for \(DurationText.render(retention))"
            return "reconcile.comparison.window: \(shown): what changed early in a window of "
                + "\(DurationText.render(settings.window)) cannot be asked about any more when the window is compared; "
                + "better: below \(DurationText.render(max(.zero, longest)))"
        }
    }
}
