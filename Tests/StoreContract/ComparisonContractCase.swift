public import Reconciler

/// One sentence of the contract of stores for comparisons, and how a store is held to it.
public struct ComparisonContractCase: Sendable, CustomStringConvertible {
    /// The sentence.
    public let name: String
    private let body: @Sendable (Comparing) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (Comparing) async throws -> Void) {
        self.name = name
        self.body = body
    }

    public var description: String { name }

    /// Holds a fresh store to it.
    ///
    /// - Throws: ``ContractViolation``, or what the store threw.
    public func check(_ subject: ComparisonSubject) async throws {
        let clock = ManualClock()
        try await subject.withStore(clock) { store in
            try await body(Comparing(store: store, clock: clock))
        }
    }

    /// The whole contract.
    public static let all: [ComparisonContractCase] =
        lanes + runs + steps + positions + unsettled + money + discrepancies
}

/// A kind of store that is held to the contract of comparisons.
public struct ComparisonSubject: Sendable {
    /// Opens an empty store by a clock, lends it, and removes it.
    public let withStore:
        @Sendable (
            ManualClock, @Sendable (any PaymentStore & ComparisonStore) async throws -> Void
        ) async throws -> Void

    /// A subject.
    public init(
        withStore:
            @escaping @Sendable (
                ManualClock, @Sendable (any PaymentStore & ComparisonStore) async throws -> Void
            ) async throws -> Void
    ) {
        self.withStore = withStore
    }
}
