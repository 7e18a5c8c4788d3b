internal import PaymentCore
internal import Synchronization

/// Whether a synchronous standby confirms what the database acknowledges, where the configuration counts on one.
///
/// A database whose `synchronous_standby_names` was emptied acknowledges on one copy, and says nothing of it: the loss
/// of that copy loses what callers were told.
public final class StandbyWatch: Sendable {
    /// What is done while no standby confirms.
    public enum Requirement: String, Sendable, CaseIterable {
        /// People are told.
        case warn
        /// Callers are asked to come again as well. What is under way is finished.
        case refuse
    }

    /// What is done while no standby confirms.
    public let requirement: Requirement
    private let missing = Mutex(Bool?.none)

    /// Nothing is known yet.
    public init(_ requirement: Requirement) { self.requirement = requirement }

    /// Whether no standby confirms; `nil` before the database was looked at.
    public var isMissing: Bool? { missing.withLock { $0 } }

    /// Takes in what the database is; says whether no standby confirms from now on, if that has changed. A database
    /// that takes no writes acknowledges nothing, so that it lacks nothing.
    @discardableResult
    public func note(_ database: SiteDatabase) -> Bool? {
        let now = database.isWritable && database.replication != .synchronous
        return missing.withLock { missing in
            defer { missing = now }
            return missing ?? false == now ? nil : now
        }
    }

    /// Why callers' requests are refused; `nil` if they are not. What nobody has looked at is not counted on.
    public var refusal: String? {
        guard requirement == .refuse, isMissing ?? true else { return nil }
        return "no synchronous standby confirms what is written, and store.require_standby is refuse"
    }
}
