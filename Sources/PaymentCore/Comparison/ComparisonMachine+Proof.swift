extension ComparisonMachine {
    /// Proves the money, opens or closes the discrepancies about that, and finishes the run.
    mutating func conclude(_ now: Timestamp) -> [ComparisonOrder] {
        var step = ComparisonStep(run: run)
        let currencies = Set(closing.byCurrency.keys).union(explained.keys).sorted { $0.code < $1.code }
        step.run.proofs = currencies.map { currency in
            BalanceProof(
                currency: currency, opening: run.opening[currency], moved: run.moved[currency],
                closing: closing[currency], explained: explained[currency] ?? ExplainedDifference())
        }
        for proof in step.run.proofs {
            let id = DiscrepancyID(provider: run.provider, subject: .balance(proof.currency))
            let known = batch?.discrepancies?[id]
            if proof.isProven {
                guard let known, known.state != .closed else { continue }
                let healed = known.after(.healed(.proven, ours: nil, theirs: nil, run: run.id), now)
                step.run.counts.closed += 1
                step.discrepancies.append(healed)
                step.findings.append(
                    finding(healed, ComparisonFinding(provider: run.provider, unproven: proof), .closed, now))
            } else {
                let found = ComparisonFinding(provider: run.provider, unproven: proof)
                let rule = settings.policy.rule(for: .unproven)
                let discrepancy =
                    known?.after(.seen(found, rule: rule, run: run.id), now)
                    ?? Discrepancy(found, rule: rule, run: run.id, at: now)
                let isNew = known == nil || known?.state == .closed && discrepancy.state != .closed
                if isNew { step.run.counts.opened += 1 }
                step.run.counts[.unproven] += 1
                step.discrepancies.append(discrepancy)
                step.findings.append(finding(discrepancy, found, isNew ? .opened : .seen, now))
            }
        }
        finish(&step.run, now)
        return record(step)
    }

    private func finding(
        _ discrepancy: Discrepancy, _ evidence: ComparisonFinding, _ outcome: RunFinding.Outcome, _ now: Timestamp
    ) -> RunFinding {
        RunFinding(
            run: run.id, discrepancy: discrepancy.id, at: now, evidence: evidence, atRisk: discrepancy.atRisk,
            outcome: outcome, action: discrepancy.suggestion, closeReason: discrepancy.closeReason)
    }
}
