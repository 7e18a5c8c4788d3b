/// The next so many requests like this one suffer that fault.
public struct FaultOrder: Codable, Sendable, Equatable {
    /// Only requests of this operation; nil: every one the fault applies to.
    public var operation: Operation?
    /// Only requests whose transaction key, or capture or refund key, is this; nil: any.
    public var key: String?
    /// How many requests suffer it.
    public var times: Int
    /// How many matching requests pass unharmed before.
    public var skip: Int
    /// What they suffer.
    public var fault: Fault

    /// An order for the next requests that match.
    public init(
        _ fault: Fault, operation: Operation? = nil, key: String? = nil, times: Int = 1, skip: Int = 0
    ) {
        self.fault = fault
        self.operation = operation
        self.key = key
        self.times = times
        self.skip = skip
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case operation, key, times, skip
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases + Fault.CodingKeys.allCases)
        fault = try Fault(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        operation = try container.decodeIfPresent(Operation.self, forKey: .operation)
        key = try container.decodeIfPresent(String.self, forKey: .key)
        times = try container.decodeIfPresent(Int.self, forKey: .times) ?? 1
        skip = try container.decodeIfPresent(Int.self, forKey: .skip) ?? 0
        guard (1...1_000_000).contains(times) else { throw decoder.refuse(CodingKeys.times, "1 to 1000000") }
        guard (0...1_000_000).contains(skip) else { throw decoder.refuse(CodingKeys.skip, "0 to 1000000") }
        if let operation, !fault.kind.applies(to: operation) {
            throw decoder.refuse(
                CodingKeys.operation, "\(fault.kind.rawValue) means nothing for \(operation.rawValue)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        try fault.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(operation, forKey: .operation)
        try container.encodeIfPresent(key, forKey: .key)
        try container.encode(times, forKey: .times)
        try container.encode(skip, forKey: .skip)
    }

    func matches(_ request: ProviderRequest) -> Bool {
        guard fault.kind.applies(to: request.operation) else { return false }
        if let operation, operation != request.operation { return false }
        if let key, key != request.key, key != request.entryKey { return false }
        return true
    }
}

/// A fault that strikes by chance.
public struct FaultRate: Codable, Sendable, Equatable {
    /// What is suffered.
    public var fault: Fault
    /// The operations that suffer it; nil: every one the fault applies to.
    public var operations: [Operation]?
    /// The chance that a request suffers it, 0 to 1.
    public var rate: Double

    /// A fault by chance.
    public init(_ fault: Fault, rate: Double, operations: [Operation]? = nil) {
        self.fault = fault
        self.rate = rate
        self.operations = operations
    }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case operations, rate
    }

    public init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases + Fault.CodingKeys.allCases)
        fault = try Fault(from: decoder)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        operations = try container.decodeIfPresent([Operation].self, forKey: .operations)
        rate = try container.decode(Double.self, forKey: .rate)
        guard (0...1).contains(rate) else { throw decoder.refuse(CodingKeys.rate, "0 to 1") }
        if let wrong = operations?.first(where: { !fault.kind.applies(to: $0) }) {
            throw decoder.refuse(
                CodingKeys.operations, "\(fault.kind.rawValue) means nothing for \(wrong.rawValue)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        try fault.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(operations, forKey: .operations)
        try container.encode(rate, forKey: .rate)
    }

    func applies(to operation: Operation) -> Bool {
        fault.kind.applies(to: operation) && (operations?.contains(operation) ?? true)
    }
}
