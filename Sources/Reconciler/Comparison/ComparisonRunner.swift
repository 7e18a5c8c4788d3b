public import Logging
public import PaymentCore

/// Executes a run: carries out the jobs of its ``ComparisonRunnerMachine``, and decides nothing itself.
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

    /// How an execution ended, and what is left to do.
    private struct Ending: Sendable {
        var outcome: Outcome
        var release: LeaseToken?
        var note: ComparisonStep?
    }

    /// Executes a run as far as it comes. Cancelled, it lets go of the run after the step that is on its way.
    public func execute(_ id: ComparisonRunID) async -> Outcome {
        let ending = await runToEnd(id)
        guard let token = ending.release else { return ending.outcome }
        do {
            if let note = ending.note { _ = try await store.record(note, token: token) }
        } catch {
            logger.warning("what holds a comparison up could not be noted", metadata: ["error": "\(error)"])
        }
        do {
            try await store.releaseRun(id, token: token)
        } catch {
            // The lease runs out by itself.
            logger.warning("a comparison's lease could not be released", metadata: ["error": "\(error)"])
        }
        return ending.outcome
    }

    private func runToEnd(_ id: ComparisonRunID) async -> Ending {
        var machine = ComparisonRunnerMachine(
            ComparisonRunnerMachine.Setup(
                contract: provider.contract, settings: settings, identity: identity, lease: lease))
        return await withTaskGroup(of: ComparisonRunnerMachine.Input.self) { group in
            var input = ComparisonRunnerMachine.Input.begun
            while true {
                for job in machine.handle(input, at: clock.now()) {
                    if case .end(let outcome, let token, let note) = job {
                        group.cancelAll()
                        return Ending(outcome: outcome, release: token, note: note)
                    }
                    group.addTask { await self.done(job, id) }
                }
                let result = await group.next() ?? .stopped
                // Cancelled, whatever was under way fails in its own words: they say nothing about the run.
                input = Task.isCancelled ? .stopped : result
            }
        }
    }
}

extension ComparisonRunner {
    private typealias Trouble = ComparisonRunnerMachine.Trouble

    private func done(
        _ job: ComparisonRunnerMachine.Job, _ id: ComparisonRunID
    ) async -> ComparisonRunnerMachine.Input {
        do throws(Trouble) {
            switch job {
            case .claim:
                return .claimed(
                    try await read { () throws(StoreFailure) in
                        try await store.claimRun(id, holder: holder, leaseFor: lease)
                    })
            case .readStoreTime:
                return .storeTime(try await read { () throws(StoreFailure) in try await store.now() })
            case .carryOut(let order, let run, let token):
                return .event(try await event(of: order, about: run, token))
            case .awaitLease(let pause): return await leaseDue(after: pause)
            case .renew(let token): return await renewed(id, token)
            case .end: return .stopped
            }
        } catch {
            if case .store(let failure) = error {
                logger.warning("a comparison's store failed", metadata: ["error": "\(failure)"])
            }
            return .failed(error)
        }
    }

    private func leaseDue(after pause: Span) async -> ComparisonRunnerMachine.Input {
        do {
            try await clock.sleep(until: clock.now() + pause)
            return .leaseDue
        } catch {
            return .stopped
        }
    }

    private func renewed(_ id: ComparisonRunID, _ token: LeaseToken) async -> ComparisonRunnerMachine.Input {
        do throws(StoreFailure) {
            return .renewed(try await store.renewRun(id, token: token, leaseFor: lease))
        } catch {
            logger.warning("a comparison's lease could not be renewed", metadata: ["error": "\(error)"])
            return .renewed(nil)
        }
    }

    private func event(
        of order: ComparisonOrder, about run: ComparisonRun, _ token: LeaseToken
    ) async throws(Trouble) -> ComparisonEvent {
        switch order {
        case .readPage(let cursor, let limit): return try await page(of: run, cursor, limit)
        case .ask(let questions): return .answers(await answers(to: questions))
        default: return try await read { () throws(StoreFailure) in try await stored(order, about: run, token) }
        }
    }

    private func stored(
        _ order: ComparisonOrder, about run: ComparisonRun, _ token: LeaseToken
    ) async throws(StoreFailure) -> ComparisonEvent {
        let name = run.provider
        switch order {
        case .readStanding: return .standing(try await store.standing(at: name))
        case .lookUp(let questions, let part):
            return .known(try await store.positions(at: name, questions, listedIn: part))
        case .readOurs(let cursor, let limit):
            return .ours(
                try await store.changedPositions(at: name, in: run.booksWindow, after: cursor, limit: limit))
        case .readUnsettled(let key, let limit):
            return .unsettled(try await store.unsettledPositions(at: name, after: key, limit: limit))
        case .readDiscrepancies(let ids): return .discrepancies(try await store.discrepancies(ids))
        case .readDifferences: return .differences(try await store.explainedDifferences(at: name))
        case .carryOut(let orders):
            for order in orders { try await settlement.carryOut(order) }
            return .carriedOut
        case .record(let step): return .recorded(try await store.record(step, token: token))
        // Not reached: the machine keeps these to itself, and pages and questions are asked of the provider.
        case .readPage, .ask, .finish, .letGo, .giveUp: return .carriedOut
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
            for (index, question) in questions.enumerated() {
                if index >= ComparisonRunner.questionsAtOnce, let (key, answer) = await group.next() {
                    answers[key] = answer
                }
                group.addTask { (question.key, await listing.find(question)) }
            }
            for await (key, answer) in group { answers[key] = answer }
            return answers
        }
    }
}
