public import PaymentCore

/// A document in a third place that is replaced as a whole, and only while nobody else replaced it.
///
/// That is all that a witness needs of a place: whoever reads the right and takes it is refused if somebody took it in
/// between.
public protocol WitnessItem: Sendable {
    /// What is there, and what time it is there.
    ///
    /// - Parameter deadline: No answer is waited for beyond it.
    func read(by deadline: ContinuousClock.Instant) async throws(StoreFailure) -> WitnessReading

    /// Puts a document in the place of what was read; `false` if something else is there by now.
    ///
    /// - Throws: ``StoreFailure``; with the code `indeterminate` if it may have been replaced.
    func replace(
        _ reading: WitnessReading, with model: WitnessModel, by deadline: ContinuousClock.Instant
    ) async throws(StoreFailure) -> Bool
}

/// What was read in a third place.
public struct WitnessReading: Sendable, Hashable {
    /// The document; a witness that nobody has asked yet where there is none.
    public var model: WitnessModel
    /// Which of its versions it is, in the words of the place; `nil` where there is none.
    public var revision: String?
    /// What time it was there at the earliest and at the latest, by its own clock.
    public var time: ClosedRange<Timestamp>

    /// A reading.
    public init(model: WitnessModel, revision: String?, time: ClosedRange<Timestamp>) {
        self.model = model
        self.revision = revision
        self.time = time
    }
}

/// A witness in a place that keeps one document and replaces it on a condition, such as a Kubernetes Lease.
public struct ConditionalWitness: SiteWitness {
    /// So often somebody else may be faster, before it is given up: only the other replicas of two sites write here.
    private static let mostAttempts = 5

    private let item: any WitnessItem
    private let limit: Duration

    /// A witness.
    ///
    /// - Parameter limit: How long an answer may take, all requests that it needs taken together.
    public init(_ item: any WitnessItem, limit: Duration) {
        self.item = item
        self.limit = limit
    }

    /// Gives the witness an identity if it has none; what is there is never changed.
    public func found(skew: Span) async throws(StoreFailure) -> WitnessContent {
        let identity = ConditionalWitness.identity()
        return try await change { reading throws(StoreFailure) in
            reading.model.found(as: identity)
            return reading.model.look(skew: skew, at: reading.time.lowerBound)
        }
    }

    /// What is there.
    public func look(skew: Span) async throws(StoreFailure) -> WitnessContent {
        let reading = try await item.read(by: .now + limit)
        return reading.model.look(skew: skew, at: reading.time.lowerBound)
    }

    /// Prolongs the right of a site in a term; takes it if nobody has it.
    public func renew(_ claim: WitnessClaim) async throws(StoreFailure) -> Bool { try await write(claim) }

    /// Takes the right for a new term.
    public func take(_ claim: WitnessClaim, isFenced: Bool) async throws(StoreFailure) -> Bool {
        try await write(claim, isFenced: isFenced)
    }

    private func write(_ claim: WitnessClaim, isFenced: Bool = false) async throws(StoreFailure) -> Bool {
        try await change { reading throws(StoreFailure) in
            try reading.model.write(
                claim, isFenced: isFenced, at: reading.time.lowerBound, atLatest: reading.time.upperBound)
        }
    }

    /// Gives the right back.
    public func release(_ site: SiteName, epoch: Int64) async throws(StoreFailure) {
        try await change { reading in reading.model.release(site, epoch: epoch) }
    }

    /// Reads, changes, and writes what changed; from the beginning where somebody else was faster.
    private func change<Answer>(
        _ body: (inout WitnessReading) throws(StoreFailure) -> Answer
    ) async throws(StoreFailure) -> Answer {
        let deadline = ContinuousClock.now + limit
        for _ in 0..<ConditionalWitness.mostAttempts {
            let reading = try await item.read(by: deadline)
            var changed = reading
            let answer = try body(&changed)
            guard changed.model != reading.model else { return answer }
            if try await item.replace(reading, with: changed.model, by: deadline) { return answer }
        }
        throw StoreFailure(.busy, operation: "witness", cause: "somebody else changes it all the time")
    }

    private static func identity() -> WitnessID {
        let digits = (0..<32).map { _ in String(UInt8.random(in: 0..<16), radix: 16) }.joined()
        guard let identity = WitnessID(text: "wit_\(digits)") else {
            preconditionFailure("wit_ and 32 hexadecimal digits are an identity")
        }
        return identity
    }
}
