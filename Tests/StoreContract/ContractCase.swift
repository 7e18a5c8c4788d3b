public import Reconciler

/// One sentence of the store contract, and how a store is held to it.
public struct ContractCase: Sendable, CustomStringConvertible {
    /// The sentence.
    public let name: String
    private let body: @Sendable (Scenario) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Scenario) async throws -> Void) {
        self.name = name
        self.body = body
    }

    public var description: String { name }

    /// Holds a fresh store to it.
    ///
    /// - Throws: ``ContractViolation``, or what the store threw.
    public func check(_ subject: StoreSubject) async throws {
        let clock = ManualClock()
        try await subject.withStore(clock) { store in
            try await body(Scenario(store: store, clock: clock, tamper: subject.tamper))
        }
    }

    /// The whole contract.
    public static let all: [ContractCase] =
        writing + conflicts + keys + effects + claiming + leases + trails + sealing + listing + counting + waiting
        + crowds
}

/// A kind of store that is held to the contract.
public struct StoreSubject: Sendable {
    /// Opens an empty store by a clock, lends it, and removes it.
    public let withStore:
        @Sendable (ManualClock, @Sendable (any PaymentStore) async throws -> Void) async throws -> Void
    /// Changes what is stored behind the store's back.
    public let tamper: @Sendable (any PaymentStore, Tampering) async throws -> Void

    /// A subject.
    public init(
        withStore:
            @escaping @Sendable (
                ManualClock, @Sendable (any PaymentStore) async throws -> Void
            ) async throws -> Void,
        tamper: @escaping @Sendable (any PaymentStore, Tampering) async throws -> Void
    ) {
        self.withStore = withStore
        self.tamper = tamper
    }
}

/// A store did not do what the contract says.
public struct ContractViolation: Error, CustomStringConvertible {
    /// What was expected, and where.
    public let description: String
}

/// Requires a condition.
func require(
    _ condition: Bool, _ expectation: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) throws {
    guard !condition else { return }
    throw ContractViolation(description: "\(file):\(line): \(expectation())")
}

/// Requires two values to be equal.
func require<Value: Equatable>(
    _ found: Value, is expected: Value, _ what: String = "the value", file: StaticString = #fileID,
    line: UInt = #line
) throws {
    try require(found == expected, "\(what) is \(found), expected \(expected)", file: file, line: line)
}

/// Requires a value to be there.
func require<Value>(
    _ value: Value?, _ what: String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
    guard let value else { throw ContractViolation(description: "\(file):\(line): \(what) is missing") }
    return value
}

/// Requires an operation to fail with a code.
func require(
    _ code: StoreFailure.Code, from operation: () async throws -> Void, file: StaticString = #fileID,
    line: UInt = #line
) async throws {
    do {
        try await operation()
    } catch let failure as StoreFailure {
        return try require(failure.code, is: code, "the failure's code", file: file, line: line)
    }
    throw ContractViolation(description: "\(file):\(line): it was done, expected the failure \(code)")
}
