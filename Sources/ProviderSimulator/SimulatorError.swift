/// Why the simulator could not do what it was asked.
public struct SimulatorError: Error, Sendable, CustomStringConvertible {
    /// Stable, for a program.
    public enum Code: String, Sendable {
        /// The configuration cannot be used.
        case configuration
        /// No provider has this name.
        case unknownProvider
        /// The ledger holds what this version does not understand.
        case ledgerUnreadable
        /// The provider has no transactions in which this difference could be planted.
        case cannotPlant
        /// The listener ended before it was ready.
        case notStarted
    }

    /// What kind of failure.
    public let code: Code
    /// For a person.
    public let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    public var description: String {
        "\(code.rawValue): \(detail)"
    }
}
