/// What is wrong with one key of the configuration.
struct ConfigurationProblem: Error, Hashable, CustomStringConvertible {
    /// The key, such as `providers[0].timeouts.total`.
    let key: String
    /// The value as it was given; never a secret.
    let value: String
    /// What is allowed.
    let allowed: String

    var description: String { "\(key): \(value.isEmpty ? "missing" : "'\(value)'"); allowed: \(allowed)" }
}

/// Everything that is wrong with a configuration.
struct ConfigurationFailure: Error, CustomStringConvertible {
    let problems: [ConfigurationProblem]

    var description: String { problems.map(\.description).joined(separator: "\n") }
}
