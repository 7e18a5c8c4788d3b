internal import MemoryStore
internal import PaymentCore
internal import Reconciler

/// The comparison over the time of a loss, by the shipped `LossReview`: as `LossWatch` does it.
extension World {
    /// Looks are rarer than the shipped ones, because a run takes days.
    private static let reviewEvery: Int64 = 3_600_000

    mutating func reviewLosses() {
        let site = activeSite
        guard !sites[site].row.recoveries.isEmpty else { return }
        guard
            let replica = replicas.indices.first(where: {
                replicas[$0].isUp && replicas[$0].site == site && standing($0).maySettle
            }), takesWrites(replica)
        else { return push(.site(.review), after: World.reviewEvery) }
        var isFinished = true
        for recovery in sites[site].row.recoveries {
            let known = plan.providers.indices.map { evidence(of: $0, replica) }
            let review = LossReview.decide(
                recovery, known, comparisonSettings(replica), callersRepeatFor: nil, now: storeTime(site))
            switch review {
            case .unfinished(let obstacles, let runs):
                isFinished = false
                for run in runs { _ = begin(run, at: site) }
                let isForPeople = obstacles.contains { if case .notComparable = $0 { true } else { false } }
                if isForPeople || !plan.isCompared { compareByHand(recovery) }
            case .compared:
                isFinished = false
                close(recovery.epoch)
            // A person closes a window that nobody closes by itself; until then what was under way is compared again.
            case .open(_, let again, let runs):
                for run in runs { _ = begin(run, at: site) }
                isFinished = isFinished && again.isEmpty
            case .over: break
            }
        }
        if !isFinished { push(.site(.review), after: World.reviewEvery) }
    }

    private func evidence(of provider: Int, _ replica: Int) -> LossReview.Evidence {
        let comparisons = sites[replicas[replica].site].store.comparisons
        let name = providerNames[provider]
        let settlement = comparisons.discrepancies.values.reduce(LossReview.Settlement.done) { furthest, found in
            let isTheirs = found.provider == name && LossReview.onlyTheirs.contains(found.finding)
            return isTheirs ? max(furthest, LossReview.Settlement(found)) : furthest
        }
        return LossReview.Evidence(
            provider: name, contract: contracts(replica)[name] ?? plan.providers[provider].contract,
            runs: comparisons.reviewedRuns(of: name), settlement: settlement)
    }

    /// What no program can compare, a person compares once both sides show everything.
    private mutating func compareByHand(_ recovery: SiteRecovery) {
        let window = recovery.claim.window(contracts: plan.providers.map(\.contract))
        guard now > (window.readsCountFrom + .minutes(5)).milliseconds else { return }
        close(recovery.epoch)
    }

    private mutating func close(_ epoch: Int64) {
        let row = sites[activeSite].row
        guard let compared = row.changed(by: .compared(epochOfLoss: epoch), at: nil), compared != row else { return }
        wakeKeepers()
        write(compared, at: activeSite)
    }
}
