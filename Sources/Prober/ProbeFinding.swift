public import PaymentCore

/// A property of a contract, by its name in the configuration. The order is that of the pages.
public enum ContractProperty: String, Sendable, Hashable, CaseIterable {
    case phases
    case keyFormat = "key_format"
    case keyRetention = "key_retention"
    case declinesBound = "declines_bound"
    case inquiry
    case visibilityLag = "visibility_lag"
    case statusRetention = "status_retention"
    case cancel
    case enforcesNotAfter = "enforces_not_after"
    case authorizationLife = "authorization_life"
    case cancelDeadline = "cancel_deadline"
    case cancelReversesSale = "cancel_reverses_sale"
    case listing
    case refundVisibility = "refund_visibility"
    case requestsPerSecond = "requests_per_second"
    case endpointRequestsPerSecond = "endpoint_requests_per_second"
    case concurrency
    case maxRequestLife = "max_request_life"
    case clockSkew = "clock_skew"
}

extension ContractProperty {
    /// The properties that a contract has: one that counts requests over all endpoints has no rate of each.
    static func all(of contract: ProviderContract) -> [ContractProperty] {
        allCases.filter { $0 != .endpointRequestsPerSecond || contract.endpointRequestsPerSecond != nil }
    }
}

/// A value of a property.
public enum PropertyValue: Sendable, Hashable {
    /// One of a few words.
    case word(String)
    /// Yes or no.
    case flag(Bool)
    /// A count.
    case number(Int)
    /// A length of time; `nil` for ever.
    case span(Span?)
}

/// What a probe saw of a property.
public enum ProbeSight: Sendable, Hashable {
    /// It is this.
    case exactly(PropertyValue)
    /// It is this or better: more could not be tried.
    case atLeast(PropertyValue)
    /// It is this or worse: a better value was shown to be wrong.
    case atMost(PropertyValue)
    /// It could not be measured, for this reason.
    case nothing(String)
}

/// What a probe says of one property.
public struct ProbeFinding: Sendable, Hashable {
    /// How the configured value stands to what was seen.
    public enum Verdict: String, Sendable, Hashable, CaseIterable {
        /// What is configured was seen.
        case confirmed
        /// What is configured is more than was tried, and nothing speaks against it.
        case trusted
        /// What is configured promises less than was seen. It is safe, and may cost time.
        case modest
        /// What is configured promises more than was seen, or something else.
        case contradicted
    }

    /// The property.
    public let property: ContractProperty
    /// What was seen.
    public let sight: ProbeSight
    /// What was done and what came of it, a sentence each.
    public let evidence: [String]

    /// A finding.
    public init(_ property: ContractProperty, _ sight: ProbeSight, _ evidence: [String]) {
        self.property = property
        self.sight = sight
        self.evidence = evidence
    }

    /// How a configured contract stands to it.
    public func verdict(on contract: ProviderContract) -> Verdict {
        let claimed = contract.value(of: property)
        switch sight {
        case .nothing: return .trusted
        case .exactly(let seen):
            if claimed == seen { return .confirmed }
            guard let isMore = property.isMore(claimed, than: seen) else { return .contradicted }
            return isMore ? .contradicted : .modest
        case .atLeast(let seen):
            if claimed == seen { return .confirmed }
            return property.isMore(claimed, than: seen) == true ? .trusted : .modest
        case .atMost(let seen):
            if claimed == seen { return .confirmed }
            return property.isMore(claimed, than: seen) == true ? .contradicted : .trusted
        }
    }

    /// The value that a contract may claim after this probe: what was seen, and where nothing was, what is configured.
    public func value(besides contract: ProviderContract) -> PropertyValue {
        switch (sight, verdict(on: contract)) {
        // What was not tried is not taken away, and what is modest by choice stays so where more was not ruled out.
        case (.nothing, _), (.atLeast, .trusted), (.atMost, .trusted): contract.value(of: property)
        case (.exactly(let seen), _), (.atLeast(let seen), _), (.atMost(let seen), _): seen
        }
    }
}

extension ContractProperty {
    /// Whether one value promises more than another; `nil` where they are different promises, of which none is more.
    func isMore(_ claimed: PropertyValue, than seen: PropertyValue) -> Bool? {
        switch (self, claimed, seen) {
        case (.cancel, .word(let one), .word(let other)):
            Self.isMore(one, other, best: ["tombstoning", "only_if_present", "none"])
        case (.inquiry, .word(let one), .word(let other)):
            Self.isMore(one, other, best: ["by_own_key", "by_listing", "none"])
        case (.refundVisibility, .word(let one), .word(let other)):
            Self.isMore(one, other, best: ["by_key", "sums_only"])
        // A cancel that reverses a sale is wanted or not: either way something else happens than was meant.
        case (.cancelReversesSale, _, _): nil
        case (_, .flag(let one), .flag): one
        case (_, .number(let one), .number(let other)): one > other
        // The shorter the time that is allowed for, the more is promised.
        case (.visibilityLag, .span(let one), .span(let other)), (.clockSkew, .span(let one), .span(let other)),
            (.maxRequestLife, .span(let one), .span(let other)):
            Self.length(one) < Self.length(other)
        case (_, .span(let one), .span(let other)): Self.length(one) > Self.length(other)
        default: nil
        }
    }

    private static func length(_ span: Span?) -> Int64 { span?.milliseconds ?? .max }

    private static func isMore(_ one: String, _ other: String, best order: [String]) -> Bool? {
        guard let first = order.firstIndex(of: one), let second = order.firstIndex(of: other) else { return nil }
        return first < second
    }
}

extension ProviderContract {
    /// The value of a property, as the configuration names both.
    public func value(of property: ContractProperty) -> PropertyValue {
        switch property {
        case .phases: .word(phases.rawValue)
        case .keyFormat: .word(keyFormat.rawValue)
        case .keyRetention: .span(keyRetention)
        case .declinesBound: .flag(declinesBound)
        case .inquiry: .word(inquiry.rawValue)
        case .visibilityLag: .span(visibilityLag)
        case .statusRetention: .span(statusRetention)
        case .cancel: .word(cancel.rawValue)
        case .enforcesNotAfter: .flag(enforcesNotAfter)
        case .authorizationLife: .span(authorizationLife)
        case .cancelDeadline: .span(cancelDeadline)
        case .cancelReversesSale: .flag(cancelReversesSale)
        case .listing: .flag(listing)
        case .refundVisibility: .word(refundVisibility.rawValue)
        case .requestsPerSecond: .number(requestsPerSecond)
        case .endpointRequestsPerSecond: .number(endpointRequestsPerSecond ?? requestsPerSecond)
        case .concurrency: .number(concurrency)
        case .maxRequestLife: .span(maxRequestLife)
        case .clockSkew: .span(clockSkew)
        }
    }
}
