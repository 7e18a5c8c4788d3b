public import PaymentCore

/// What an operation that is not over waits for.
public enum WaitsFor: String, Sendable, Hashable, Codable, CaseIterable {
    /// For people: no rule can go on, or what is tried fails again and again.
    case people
    /// For a moment: it is in doubt, is sent again later, or waits until something is proven.
    case time
}

/// An operation of a caller that waits.
public struct WaitingOperation: Sendable, Hashable, Comparable {
    /// The operation.
    public let operation: IdempotencyRecord.Operation
    /// What it waits for.
    public let waitsFor: WaitsFor

    /// An operation that waits.
    public init(_ operation: IdempotencyRecord.Operation, for waitsFor: WaitsFor) {
        self.operation = operation
        self.waitsFor = waitsFor
    }

    /// By name, so that lists of them are the same each time.
    public static func < (one: WaitingOperation, other: WaitingOperation) -> Bool {
        (one.operation.rawValue, one.waitsFor.rawValue) < (other.operation.rawValue, other.waitsFor.rawValue)
    }

    /// Every one that there can be.
    public static let all: [WaitingOperation] = IdempotencyRecord.Operation.allCases.flatMap { operation in
        WaitsFor.allCases.map { WaitingOperation(operation, for: $0) }
    }
}

extension Payment {
    /// The operation on whose behalf its legs are worked on; refunds are operations of their own beside it.
    public var operationUnderWay: IdempotencyRecord.Operation {
        if cancel != nil { return .cancel }
        return capture == nil ? .create : .capture
    }

    /// Its operations that wait, in order, each once. What is under way at this moment waits for nothing. What rests
    /// `authorized` waits for its caller.
    public var waiting: [WaitingOperation] {
        var found: Set<WaitingOperation> = []
        let refunds = Set(refunds.flatMap(\.parts).map(\.state))
        let hasQuarantinedLeg = legs.contains { $0.quarantine != nil }
        if hasQuarantinedLeg { found.insert(WaitingOperation(operationUnderWay, for: .people)) }
        for troubled in troubled {
            if case .refund = troubled.effect {
                found.insert(WaitingOperation(.refund, for: .people))
            } else {
                found.insert(WaitingOperation(operationUnderWay, for: .people))
            }
        }
        if refunds.contains(.quarantined) { found.insert(WaitingOperation(.refund, for: .people)) }
        // Due later than at its last change: nothing is on the wire.
        guard let dueAt, dueAt > updatedAt else { return found.sorted() }
        if refunds.contains(.processing) { found.insert(WaitingOperation(.refund, for: .time)) }
        let isOpen: Bool
        switch state {
        case .processing, .requiresAction, .canceling, .canceled, .failed: isOpen = true
        case .authorized, .succeeded, .quarantined: isOpen = false
        }
        if isOpen, !hasQuarantinedLeg { found.insert(WaitingOperation(operationUnderWay, for: .time)) }
        return found.sorted()
    }
}
