public import Logging
public import PaymentCore

/// Executes a run: claims it, does what its machine orders, and lets go of it at the end. It decides nothing itself.
public struct ComparisonRunner: Sendable {
    /// What came of an execution.
    public enum Outcome: Sendable, Hashable {
        /// The run is final.
        case finished(ComparisonRun)
        /// Another holder works at it, its lane belongs to another run, or it is final already.
        case notOurs
        /// It is let go of, and goes on where it was recorded last: because the lease was lost, or this process stops.
        case letGo
        /// It is let go of, because something could not be read or written. Before `retryAt`, where it is named, trying
        /// again makes no sense.
        case failed(code: String, needsPerson: Bool, retryAt: Timestamp?)
    }

    /// So many keys are asked for at the same time.
    static let questionsAtOnce = 8
    /// A cursor that is refused begins the listing again, so many times without a pause; a page that is read ahead is
    /// refused twice.
    static let mostRefusals = 6

    let store: any PaymentStore & ComparisonStore
    let provider: any PaymentProvider
    let settlement: any DifferenceSettlement
    let settings: ComparisonSettings
    let identity: StoreID?
    let holder: String
    let lease: Span
    let clock: any WallClock
    let logger: Logger

    /// A runner of one provider's runs.
    /// - Parameters:
    ///   - store: Where the runs and the payments are.
    ///   - provider: Whose transactions are compared.
    ///   - settlement: Carries out what the policy wants.
    ///   - settings: What the operator decided about comparing.
    ///   - identity: The store's; what names another's is left alone.
    ///   - holder: Unique for each start of each process.
    ///   - lease: How long a run belongs to a process that does not renew its claim.
    public init(
        store: any PaymentStore & ComparisonStore, provider: any PaymentProvider,
        settlement: any DifferenceSettlement, settings: ComparisonSettings, identity: StoreID?, holder: String,
        lease: Span, clock: any WallClock, logger: Logger
    ) {
        self.store = store
        self.provider = provider
        self.settlement = settlement
        self.settings = settings
        self.identity = identity
        self.holder = holder
        self.lease = lease
        self.clock = clock
        self.logger = logger
    }

    /// Executes a run as far as it comes. Cancelled, it lets go of the run after the step that is on its way.
    public func execute(_ id: ComparisonRunID) async -> Outcome {
        let claimed: ClaimedRun
        do throws(StoreFailure) {
            guard let run = try await store.claimRun(id, holder: holder, leaseFor: lease) else {
                return .notOurs
            }
            claimed = run
        } catch {
            return failed(.store(error))
        }
        let outcome: Outcome
        do throws(StoreFailure) {
            // Everything is judged by the store's clock.
            outcome = await carryThrough(claimed, ahead: try await store.now() - clock.now())
        } catch {
            outcome = failed(.store(error))
        }
        if case .finished = outcome { return outcome }
        do {
            try await store.releaseRun(id, token: claimed.token)
        } catch {
            // The lease runs out by itself.
            logger.warning("a comparison's lease could not be released", metadata: ["error": "\(error)"])
        }
        return outcome
    }

    /// What a child task came to.
    private enum Result: Sendable {
        case event(ComparisonEvent)
        case ended(Outcome)
    }

    private func carryThrough(_ claimed: ClaimedRun, ahead: Span) async -> Outcome {
        var machine = ComparisonMachine(
            run: claimed.run, contract: provider.contract, settings: settings, store: identity)
        var refusals = 0
        return await withTaskGroup(of: Result.self) { group in
            group.addTask { .ended(await self.keepLease(of: claimed)) }
            var orders = machine.handle(.claimed, at: clock.now() + ahead)
            while true {
                for order in orders {
                    let run = machine.run
                    group.addTask { await self.carryOut(order, of: run, claimed.token) }
                }
                guard let result = await group.next() else { return .letGo }
                switch result {
                case .ended(let outcome):
                    group.cancelAll()
                    return outcome
                case .event(let event):
                    if event == .cursorRefused { refusals += 1 }
                    guard refusals <= ComparisonRunner.mostRefusals else {
                        group.cancelAll()
                        return .failed(code: "cursor_refused", needsPerson: false, retryAt: nil)
                    }
                    orders = machine.handle(event, at: clock.now() + ahead)
                }
            }
        }
    }

    /// Renews the lease until it is lost or the work ends. A renewal that fails is tried again: steps name the lease,
    /// so that nothing is written under one that another took.
    private func keepLease(of claimed: ClaimedRun) async -> Outcome {
        let pause = Span(milliseconds: lease.milliseconds / 3)
        while !Task.isCancelled {
            do {
                try await clock.sleep(until: clock.now() + pause)
            } catch {
                break
            }
            do throws(StoreFailure) {
                let run = claimed.run.id
                guard try await store.renewRun(run, token: claimed.token, leaseFor: lease) else {
                    return .letGo
                }
            } catch {
                logger.warning("a comparison's lease could not be renewed", metadata: ["error": "\(error)"])
            }
        }
        return .letGo
    }

    private func carryOut(_ order: ComparisonOrder, of run: ComparisonRun, _ token: LeaseToken) async -> Result {
        do throws(Trouble) {
            return try await done(order, of: run, token)
        } catch {
            return .ended(failed(error))
        }
    }
}

extension ComparisonRunner {
    /// Why an order could not be carried out.
    private enum Trouble: Error {
        case store(StoreFailure)
        case listing(ListingFailure)
    }

    private func failed(_ trouble: Trouble) -> Outcome {
        switch trouble {
        case .store(let failure):
            logger.warning("a comparison's store failed", metadata: ["error": "\(failure)"])
            return .failed(code: "store_\(failure.code.rawValue)", needsPerson: !failure.isPassing, retryAt: nil)
        case .listing(let failure):
            return .failed(
                code: failure.code, needsPerson: failure.kind == .refused || failure.kind == .malformed,
                retryAt: failure.retryAt)
        }
    }

    private func done(
        _ order: ComparisonOrder, of run: ComparisonRun, _ token: LeaseToken
    ) async throws(Trouble) -> Result {
        let name = run.provider
        switch order {
        case .readPage(let cursor, let limit):
            return .event(try await page(of: run, cursor, limit))
        case .ask(let questions):
            return .event(.answers(await answers(to: questions)))
        case .readStanding:
            return .event(.standing(try await read { () throws(StoreFailure) in try await store.standing(at: name) }))
        case .lookUp(let questions, let part):
            return .event(
                .known(
                    try await read { () throws(StoreFailure) in
                        try await store.positions(at: name, questions, listedIn: part)
                    }))
        case .readOurs(let place, let limit):
            return .event(
                .ours(
                    try await read { () throws(StoreFailure) in
                        try await store.changedPositions(at: name, in: run.booksWindow, after: place, limit: limit)
                    }))
        case .readUnsettled(let key, let limit):
            return .event(
                .unsettled(
                    try await read { () throws(StoreFailure) in
                        try await store.unsettledPositions(at: name, after: key, limit: limit)
                    }))
        case .readDiscrepancies(let ids):
            return .event(
                .discrepancies(
                    try await read { () throws(StoreFailure) in try await store.discrepancies(ids) }))
        case .readDifferences:
            return .event(
                .differences(
                    try await read { () throws(StoreFailure) in try await store.explainedDifferences(at: name) }))
        case .carryOut(let orders):
            for order in orders {
                try await read { () throws(StoreFailure) in try await settlement.carryOut(order) }
            }
            return .event(.carriedOut)
        case .record(let step):
            return .event(
                .recorded(try await read { () throws(StoreFailure) in try await store.record(step, token: token) }))
        case .finish: return .ended(.finished(run))
        case .letGo: return .ended(.letGo)
        case .giveUp(let reason):
            logger.error(
                "a comparison cannot go on", metadata: ["run": "\(run.id)", "reason": "\(reason)"])
            return .ended(.failed(code: "sum_does_not_fit", needsPerson: true, retryAt: nil))
        }
    }

    private func read<Value: Sendable>(
        _ body: () async throws(StoreFailure) -> Value
    ) async throws(Trouble) -> Value {
        do {
            return try await body()
        } catch {
            throw .store(error)
        }
    }

    /// A refused cursor begins the listing again; a refused first page is a failure.
    private func page(
        of run: ComparisonRun, _ cursor: String?, _ limit: Int
    ) async throws(Trouble) -> ComparisonEvent {
        guard let listing = provider.listing else { throw .listing(ListingFailure(.refused, code: "no_listing")) }
        do {
            let limit = min(limit, ListingOrder.largestPage)
            return .page(
                try await listing.list(ListingOrder(window: run.listingWindow, cursor: cursor, limit: limit)))
        } catch {
            if cursor != nil, error.kind == .cursorRefused { return .cursorRefused }
            throw .listing(error)
        }
    }

    private func answers(to questions: [KeyQuestion]) async -> [EffectKey: KeyAnswer] {
        guard let listing = provider.listing else { return [:] }
        return await withTaskGroup(of: (EffectKey, KeyAnswer).self) { group in
            var answers: [EffectKey: KeyAnswer] = [:]
            for (place, question) in questions.enumerated() {
                if place >= ComparisonRunner.questionsAtOnce, let (key, answer) = await group.next() {
                    answers[key] = answer
                }
                group.addTask { (question.key, await listing.find(question)) }
            }
            for await (key, answer) in group { answers[key] = answer }
            return answers
        }
    }
}
