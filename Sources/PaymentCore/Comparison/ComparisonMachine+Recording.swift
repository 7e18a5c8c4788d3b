extension ComparisonMachine {
    /// Makes a step of a batch that is judged; reads the discrepancies that it is about first.
    mutating func plan(_ now: Timestamp) -> [ComparisonOrder] {
        guard let batch else { return [.letGo] }
        let (items, after) = (batch.items, batch.after)
        let judged = batch.judged
        if batch.discrepancies == nil {
            let ids = judged.filter { $0.verdict.finds.isDifference || items[$0.index].known.row?.isNamed == true }
                .map { DiscrepancyID(provider: run.provider, subject: .transaction(items[$0.index].key)) }
            guard ids.isEmpty else { return [.readDiscrepancies(ids.sorted())] }
            self.batch?.discrepancies = [:]
        }
        var draft = Draft(run: run)
        count(items, judged.count, into: &draft)
        for (index, verdict) in judged {
            guard write(items[index], verdict, into: &draft, now) else {
                return [.giveUp(reason: "the sum of the amounts of a run does not fit")]
            }
        }
        draft.step.run.checkpoint = after
        if draft.isProgressAlone, after.phase == run.checkpoint.phase, unrecorded < ComparisonMachine.mostUnrecorded {
            unrecorded += 1
            return goOn(from: draft.step.run, now)
        }
        if run.isDry {
            draft.step = ComparisonStep(run: draft.step.run, findings: draft.step.findings)
            draft.step.run.moved = run.moved
            foundDry.formUnion(judged.filter { $0.verdict.finds.isDifference }.map { items[$0.index].key })
            if after.phase == .proof { finish(&draft.step.run, now) }
            return record(draft.step)
        }
        let orders = draft.orders.filter { !batch.carriedOut.contains($0) }
        guard !orders.isEmpty else { return record(draft.step) }
        self.batch?.carriedOut.formUnion(orders)
        self.batch?.step = draft.step
        return [.carryOut(orders)]
    }

    /// A step in the making.
    struct Draft {
        var step: ComparisonStep
        var orders: [SettlementOrder] = []

        init(run: ComparisonRun) { step = ComparisonStep(run: run) }

        /// Nothing was found and nothing is to be remembered: it can be repeated as well as recorded.
        var isProgressAlone: Bool {
            step.positions.isEmpty && step.findings.isEmpty && step.discrepancies.isEmpty && orders.isEmpty
        }
    }

    /// A run that is finished.
    func finish(_ run: inout ComparisonRun, _ now: Timestamp) {
        run.state = .completed
        run.finishedAt = now
        run.checkpoint = ComparisonRun.Checkpoint(.done)
    }

    private func count(_ items: [Item], _ judged: Int, into draft: inout Draft) {
        draft.step.run.counts.asked += items.count { $0.answer != nil }
        draft.step.run.counts.unanswered += items.count { $0.answer == .unavailable }
        switch run.checkpoint.phase {
        case .listing: draft.step.run.counts.listed += items.count { !$0.isLeftOut }
        case .ours: draft.step.run.counts.booked += items.count + (batch?.unchanged ?? 0)
        case .unsettled: draft.step.run.counts.revisited += judged
        case .opening, .proof, .done: break
        }
    }

    /// Writes one position, what becomes of its discrepancy, and what it moves; `false` if a sum does not fit.
    private func write(
        _ item: Item, _ verdict: ComparisonTable.Verdict, into draft: inout Draft, _ now: Timestamp
    ) -> Bool {
        let before = item.known.row
        let theirs = counted(item, verdict)
        let isListed = run.checkpoint.phase == .listing && !item.isLeftOut
        if isListed || run.checkpoint.phase == .ours && isNews(item, verdict) {
            draft.step.run.counts[verdict.finds] += 1
        }
        tellDisputes(of: item, verdict, into: &draft)
        let isNamed = name(item, verdict, into: &draft, now)
        if before == nil, theirs == nil, !verdict.finds.isDifference, item.known.ours?.claimsNothing ?? true {
            return true  // Neither side has anything to remember.
        }
        let isUnsettled = verdict.finds.isUnsettled || isNamed
        if let before, !isUnsettled, before.says(theirs, item, verdict, isNamed) { return true }
        let row = ComparedPosition(
            provider: run.provider, key: item.key, theirs: theirs, ours: item.known.ours, listedAt: item.listedAt,
            finding: verdict.finds, row: verdict.row, isNamed: isNamed, comparedAt: now, run: run.id)
        draft.step.positions.append(row)
        do {
            try draft.step.moved.count(ours: before?.ours?.net, theirs: before?.theirs?.net, sign: -1)
            try draft.step.moved.count(ours: row.ours?.net, theirs: row.theirs?.net)
            try draft.step.run.moved.count(ours: before?.ours?.net, theirs: before?.theirs?.net, sign: -1)
            try draft.step.run.moved.count(ours: row.ours?.net, theirs: row.theirs?.net)
        } catch {
            return false
        }
        return true
    }

    /// A payment that rests asks nobody: what its provider lists of disputes is told to it. A listing is by the moment
    /// of the last change, so that each change of a dispute is listed once. Also where the key has, or may have, more
    /// than one transaction: what is given back under the key may reach the disputed one (seed 6786933414624).
    private func tellDisputes(of item: Item, _ verdict: ComparisonTable.Verdict, into draft: inout Draft) {
        guard !item.disputes.isEmpty, item.known.ours != nil, let theirs = item.theirs,
            theirs.contradiction == nil, theirs.store == nil || theirs.store == store
        else { return }
        let finding = ComparisonFinding(
            provider: run.provider, key: item.key, verdict, ours: item.known.ours, named: nil, theirs: theirs)
        draft.orders.append(
            SettlementOrder(
                run: run.id, discrepancy: finding.id, action: .tell, finding: finding, disputes: item.disputes))
    }

    /// What the provider shows, as far as it is a matter of this store: another's money is not counted.
    private func counted(_ item: Item, _ verdict: ComparisonTable.Verdict) -> ListedPosition? {
        verdict.finds == .otherStore ? nil : item.theirs
    }

    /// Of our legs those count that the listing did not show in this run, or that differ.
    private func isNews(_ item: Item, _ verdict: ComparisonTable.Verdict) -> Bool {
        if run.isDry { return verdict.finds.isDifference }
        return item.known.row == nil || verdict.finds != .matched
    }

    /// Takes the verdict to the discrepancy; returns whether one accounts for what differs.
    private func name(
        _ item: Item, _ verdict: ComparisonTable.Verdict, into draft: inout Draft, _ now: Timestamp
    ) -> Bool {
        // Nearly all positions agree, and have no name that would have to be derived.
        guard verdict.finds.isDifference || item.known.row?.isNamed == true else { return false }
        let id = DiscrepancyID(provider: run.provider, subject: .transaction(item.key))
        let known = batch?.discrepancies?[id]
        let (ours, theirs) = (item.known.ours?.net, counted(item, verdict)?.net)
        let finding = ComparisonFinding(
            provider: run.provider, key: item.key, verdict, ours: item.known.ours, named: item.known.named,
            theirs: item.theirs)
        if verdict.finds.isDifference {
            open(finding, known, into: &draft, now)
            return true
        }
        guard let known else { return false }
        if verdict.finds == .inFlight {
            let event = DiscrepancyEvent.unjudged(ours: ours, theirs: theirs, run: run.id)
            let changed = known.after(event, now)
            if changed.oursNet != known.oursNet || changed.theirsNet != known.theirsNet {
                draft.step.discrepancies.append(changed)
            }
            return true
        }
        let reason = known.healing(now: verdict.finds, ours: item.known.ours)
        let healed = known.after(.healed(reason, ours: ours, theirs: theirs, run: run.id), now)
        draft.step.discrepancies.append(healed)
        if known.state != .closed {
            draft.step.run.counts.closed += 1
            draft.step.findings.append(RunFinding(healed, evidence: finding, .closed, run.id, now))
        }
        return false
    }

    /// Opens a discrepancy, or sees it again, and begins what the policy wants once its wait is over.
    private func open(
        _ finding: ComparisonFinding, _ known: Discrepancy?, into draft: inout Draft, _ now: Timestamp
    ) {
        let rule = settings.policy.rule(
            for: finding, findsRefunds: run.isOverLostRows == true && contract.refundVisibility == .byKey)
        var found =
            known?.after(.seen(finding, rule: rule, run: run.id), now)
            ?? Discrepancy(finding, rule: rule, run: run.id, at: now)
        let isNew = known == nil || known?.state == .closed && found.state != .closed
        if isNew { draft.step.run.counts.opened += 1 }
        var outcome = isNew ? RunFinding.Outcome.opened : .seen
        if found.suggestion != .tell, found.state != .closed, found.state == .settling || found.actsAt ?? now <= now {
            if found.state == .open {
                found = found.after(.acted(found.suggestion, run: run.id), now)
                outcome = .acted
            }
            // Once begun it is given again with each look: a crash may have come before it.
            draft.orders.append(
                SettlementOrder(run: run.id, discrepancy: found.id, action: found.suggestion, finding: finding))
        }
        draft.step.discrepancies.append(found)
        draft.step.findings.append(RunFinding(found, evidence: finding, outcome, run.id, now))
    }
}

extension ComparedPosition {
    /// Whether it says the same as what was found now, apart from when that was.
    fileprivate func says(
        _ theirs: ListedPosition?, _ item: ComparisonMachine.Item, _ verdict: ComparisonTable.Verdict, _ isNamed: Bool
    ) -> Bool {
        self.theirs == theirs && (ours == item.known.ours || ours?.withoutTime == item.known.ours?.withoutTime)
            && listedAt == item.listedAt && finding == verdict.finds && row == verdict.row && self.isNamed == isNamed
    }
}

extension ComparisonMachine.Batch {
    /// Its positions that were not passed over, by their places.
    fileprivate var judged: [(index: Int, verdict: ComparisonTable.Verdict)] {
        judgements.enumerated().compactMap { index, judgement in
            guard case .found(let verdict) = judgement else { return nil }
            return (index, verdict)
        }
    }
}

extension BookedPosition {
    /// Whether it does not say that the provider holds or took anything.
    fileprivate var claimsNothing: Bool { standing == .undecided || standing == .ended }

    fileprivate var withoutTime: BookedPosition {
        BookedPosition(
            payment: payment, leg: leg, provider: provider, key: key, amount: amount, captured: captured,
            refunds: refunds, standing: standing, work: work, state: state,
            updatedAt: Timestamp(milliseconds: 0))
    }
}

extension Discrepancy {
    /// The discrepancy after an event of a run, which is never refused.
    func after(_ event: DiscrepancyEvent, _ now: Timestamp) -> Discrepancy {
        var changed = self
        do {
            try changed.handle(event, at: now)
        } catch {
            return self  // Only people's events are refused.
        }
        return changed
    }
}

extension RunFinding {
    fileprivate init(
        _ discrepancy: Discrepancy, evidence: ComparisonFinding, _ outcome: Outcome, _ run: ComparisonRunID,
        _ now: Timestamp
    ) {
        self.init(
            run: run, discrepancy: discrepancy.id, at: now, evidence: evidence, atRisk: discrepancy.atRisk,
            outcome: outcome, action: discrepancy.suggestion, closeReason: discrepancy.closeReason)
    }
}
