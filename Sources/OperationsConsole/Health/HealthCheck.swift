/// What a check found.
public struct CheckResult: Sendable, Hashable {
    /// Whether it is well.
    public enum Status: String, Sendable, Hashable, Codable {
        /// It is.
        case pass
        /// It is not.
        case fail
    }

    /// Whether it is well.
    public let status: Status
    /// Why not, for people; no secrets and no data of payments. `nil` where it is well.
    public let reason: String?

    private init(_ status: Status, _ reason: String?) {
        self.status = status
        self.reason = reason
    }

    /// All is well.
    public static let pass = CheckResult(.pass, nil)

    /// It is not, with the reason for people.
    public static func fail(_ reason: String) -> CheckResult { CheckResult(.fail, reason) }
}

/// One question about the process's health, with its name.
public struct HealthCheck: Sendable {
    /// The name that `?verbose` shows.
    public let name: String
    /// Finds the answer. It should heed cancellation; one that does not answer in time counts as failed
    /// meanwhile.
    public let check: @Sendable () async -> CheckResult

    /// A check.
    public init(_ name: String, check: @escaping @Sendable () async -> CheckResult) {
        self.name = name
        self.check = check
    }
}

/// What a named check found.
struct NamedResult: Sendable, Hashable {
    let name: String
    let result: CheckResult
}
