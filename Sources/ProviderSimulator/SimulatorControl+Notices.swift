import GRDB

extension SimulatorControl {
    /// In whose name a provider sends notifications.
    struct Notifier: Sendable {
        let merchant: String
        /// In hexadecimal; nil signs nothing.
        let key: String?

        /// Nil for a wire on which nobody has to be told.
        init?(_ provider: ProviderConfiguration) {
            guard provider.wire == .adyen else { return nil }
            merchant = provider.token.flatMap { AdyenKeys($0) }?.merchant ?? "account"
            key = provider.notificationKey
        }
    }

    /// What a provider has to tell of what happened at this moment or later, in milliseconds since 1970 by its clock.
    /// Nothing is delivered by itself: whoever plays the wire delivers it, late, twice or in another order.
    ///
    /// - Returns: nothing on a wire whose status can be read.
    public func notices(at provider: String, since moment: Int64 = 0) async throws -> [ProviderNotice] {
        try known(provider)
        guard let notifier = notifiers[provider] else { return [] }
        return try await database.read { db in
            let tables = AdyenTables(db: db, provider: provider)
            return try AdyenNotices(tables: tables, merchant: notifier.merchant, key: notifier.key).since(moment)
        }
    }
}
