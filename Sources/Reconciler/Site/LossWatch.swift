public import Logging
public import PaymentCore

/// Brings the comparison over the time of a loss to its end, as long as a recovery window is open at this site: has the
/// providers compared, and writes down that it is finished. It decides nothing itself (``LossReview``).
///
/// Any number of processes may do so: the same run has the same identifier, and the row takes each change once.
public struct LossWatch: Sendable {
    private let store: any PaymentStore & ComparisonStore
    private let sites: any SiteStore
    private let gate: SiteGate
    private let contracts: [ProviderName: ProviderContract]
    private let settings: ComparisonSettings
    private let callersRepeatFor: Span?
    private let pause: Span
    private let clock: any WallClock
    private let logger: Logger

    /// A watch.
    /// - Parameters:
    ///   - store: Where runs and discrepancies are.
    ///   - sites: Where the site's row is.
    ///   - contracts: Those of every provider that is configured, listed or not.
    ///   - callersRepeatFor: How long after a loss callers may repeat what they asked before; `nil` where only people
    ///     close a window.
    public init(
        store: any PaymentStore & ComparisonStore, sites: any SiteStore, gate: SiteGate,
        contracts: [ProviderName: ProviderContract], settings: ComparisonSettings, callersRepeatFor: Span?,
        pause: Span = .seconds(5), clock: any WallClock, logger: Logger
    ) {
        self.store = store
        self.sites = sites
        self.gate = gate
        self.contracts = contracts
        self.settings = settings
        self.callersRepeatFor = callersRepeatFor
        self.pause = pause
        self.clock = clock
        self.logger = logger
    }

    /// Works until the task is cancelled.
    public func run() async {
        var said: [Int64: LossReview] = [:]
        var complaint = ""
        while !Task.isCancelled {
            do throws(StoreFailure) {
                let reviews = try await look()
                for (epoch, review) in reviews where said[epoch].map({ !$0.saysTheSame(as: review) }) ?? true {
                    log(review, of: epoch)
                }
                (said, complaint) = (reviews, "")
            } catch {
                if complaint != error.cause {
                    logger.warning("the comparison over a loss cannot be followed", metadata: ["error": "\(error)"])
                }
                complaint = error.cause
            }
            do {
                try await clock.sleep(until: clock.now() + pause)
            } catch {
                return
            }
        }
    }

    /// Looks once at every loss whose window is open, and does what is to be done; returns what was found, by the
    /// number of the term that began with the loss.
    public func look() async throws(StoreFailure) -> [Int64: LossReview] {
        let standing = gate.standing
        guard standing.maySettle, let epoch = standing.epoch else { return [:] }
        var reviews: [Int64: LossReview] = [:]
        for recovery in standing.recoveries {
            let review = try await review(recovery)
            switch review {
            case .unfinished(_, let plan), .open(_, _, let plan): for run in plan { _ = try await store.begin(run) }
            case .compared: _ = try await sites.changeSite(.compared(epochOfLoss: recovery.epoch), epoch: epoch)
            case .over: _ = try await sites.changeSite(.recovered(epochOfLoss: recovery.epoch), epoch: epoch)
            }
            reviews[recovery.epoch] = review
        }
        return reviews
    }

    private func review(_ recovery: SiteRecovery) async throws(StoreFailure) -> LossReview {
        var evidence: [LossReview.Evidence] = []
        for (provider, contract) in contracts {
            let settlement = try await settlement(at: provider)
            // Once it is compared and settled, only runs over the loss matter, for what they found under way.
            let isOver = recovery.listingCompared && settlement == .done
            let runs = try await runs(at: provider, recovery.at, onlyAsked: isOver)
            evidence.append(
                LossReview.Evidence(provider: provider, contract: contract, runs: runs, settlement: settlement))
        }
        return LossReview.decide(
            recovery, evidence, settings, callersRepeatFor: callersRepeatFor, now: try await store.now())
    }

    /// The runs of a provider that were planned since a loss: every page is read, however many there are.
    package func runs(
        at provider: ProviderName, _ loss: Timestamp, onlyAsked: Bool
    ) async throws(StoreFailure) -> [ComparisonRun] {
        var query = RunQuery(limit: 200)
        query.provider = provider
        if onlyAsked { query.kind = .asked }
        var found: [ComparisonRun] = []
        repeat {
            let page = try await store.runs(query)
            found += page.items.prefix { $0.createdAt >= loss }
            query.after = page.items.last.map { $0.createdAt >= loss } == true ? page.next : nil
        } while query.after != nil
        return found
    }

    /// How far what only a provider knows is settled: every page is read, however many there are.
    package func settlement(at provider: ProviderName) async throws(StoreFailure) -> LossReview.Settlement {
        var furthest = LossReview.Settlement.done
        for found in LossReview.onlyTheirs {
            var query = DiscrepancyQuery(limit: 200)
            query.provider = provider
            query.finding = found
            repeat {
                let page = try await store.discrepancies(query)
                furthest = max(furthest, page.items.map(LossReview.Settlement.init).max() ?? .done)
                query.after = page.next
            } while query.after != nil && furthest != .leftToPolicy
        }
        return furthest
    }

    private func log(_ review: LossReview, of epoch: Int64) {
        var metadata: Logger.Metadata = ["epoch_of_loss": "\(epoch)"]
        switch review {
        case .unfinished(let obstacles, let plan):
            metadata["missing"] = "\(obstacles.map(\.description).joined(separator: "; "))"
            metadata["planned"] = "\(plan.map(\.id.text).joined(separator: ", "))"
            logger.notice("the comparison over a loss is not finished", metadata: metadata)
        case .compared:
            logger.notice("both sides were compared over a loss, and what was found is settled", metadata: metadata)
        case .open(let until, let again, _):
            metadata["closes"] = "\(until?.rfc3339 ?? "reconciled site recovered \(epoch)")"
            if !again.isEmpty { metadata["compared_again"] = "\(again.map(\.name).joined(separator: ", "))" }
            logger.notice("the recovery window of a loss stays open for as long as callers repeat", metadata: metadata)
        case .over:
            logger.notice("the recovery window of a loss is closed", metadata: metadata)
        }
    }
}

extension LossReview {
    /// Whether a person would read the same in both: what is planned is planned once.
    fileprivate func saysTheSame(as other: LossReview) -> Bool {
        switch (self, other) {
        case (.unfinished(let obstacles, _), .unfinished(let others, let plan)):
            obstacles == others && plan.isEmpty
        case (.open(let until, let again, _), .open(let otherUntil, let others, _)):
            until == otherUntil && again == others
        default: self == other
        }
    }
}
