internal import PaymentCore
public import Reconciler

extension MemoryStore {
    /// Lets the store have a standby that has nothing yet; each change of a payment is one step of the log.
    public func followed() { standby = LogPosition(offset: 0) }

    /// The standby takes in everything that was changed until now.
    public func standbyCatchesUp() { if standby != nil { standby = written } }

    /// Reads how many changes were made and how many of them the standby has; without one, there is nobody to wait for.
    public func standbyReading(_ name: String?) async throws(StoreFailure) -> StandbyReading {
        try perform(.standbyReading) {
            guard let standby else { return .alone }
            return StandbyReading(written: written, flushed: standby)
        }
    }
}
