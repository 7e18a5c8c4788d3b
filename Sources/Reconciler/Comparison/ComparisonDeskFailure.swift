public import PaymentCore

/// Why the ``ComparisonDesk`` did not do what somebody asked.
public enum ComparisonDeskFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// There is no such run or discrepancy.
    case notFound
    /// No provider of this name is configured.
    case unknownProvider(allowed: [ProviderName])
    /// The window holds no time.
    case emptyWindow
    /// The window cannot be compared.
    case notComparable(ComparisonSchedule.Refusal)
    /// No daemon compares.
    case switchedOff
    /// ``ComparisonDesk/mostAttempts`` attempts were made at the window.
    case tooManyAttempts
    /// Nobody of this name may be given discrepancies.
    case unknownPerson(allowed: [String])
    /// The discrepancy is not any more what the person has read.
    case outdated(current: Discrepancy)
    /// The discrepancy does not take the change.
    case refused(DiscrepancyRefusal, current: Discrepancy)
    /// The store failed.
    case store(StoreFailure)

    public var description: String {
        switch self {
        case .notFound: "there is no such run or discrepancy"
        case .unknownProvider(let allowed):
            "no provider of this name is configured; allowed: \(allowed.map(\.name).joined(separator: ", "))"
        case .emptyWindow: "the window must end after it begins"
        case .notComparable(let refusal): refusal.description
        case .switchedOff: "comparisons are switched off (reconcile.comparison.enabled: false)"
        case .tooManyAttempts: "the window was attempted \(ComparisonDesk.mostAttempts) times; ask for another window"
        case .unknownPerson(let allowed):
            "nobody of this name is configured under admin.operators; allowed: \(allowed.joined(separator: ", "))"
        case .outdated(let current):
            "it was changed since it was read: it has version \(current.version); look again"
        case .refused(let refusal, _): refusal.description
        case .store(let failure): failure.description
        }
    }
}
