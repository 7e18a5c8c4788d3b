/// What people decide about a discrepancy: the policy does it by itself for some classes, two people for any other.

extension Discrepancy {
    /// What two people ordered: what the provider has beyond our books is undone, as long as nothing else is seen.
    public struct UndoOrder: Sendable, Hashable, Codable {
        /// So long after the approval a run may begin it.
        public static let lasts = Span.days(1)

        /// The repair.
        public let repair: String
        /// A digest of what they decided about.
        public let facts: Digest
        /// From when on no run begins it any more.
        public let until: Timestamp
    }

    /// Proposes a repair of a discrepancy as it was read. Nothing moves by it.
    ///
    /// - Throws: Why nobody could approve it as it is proposed.
    public func proposing(
        _ request: RepairRequest, _ table: RepairTable, at now: Timestamp
    ) throws(RepairRefusal) -> (discrepancy: Discrepancy, repair: Repair) {
        guard request.version == version else { throw .changed }
        let repair = Repair(request, of: self, at: now)
        if case .refuse(let refusal) = table.decide(facts(of: repair, by: nil, at: now)).decision { throw refusal }
        guard history.count < Discrepancy.mostEntries else { throw .historyFull }
        var proposed = self
        proposed.noteProposal(of: repair)
        return (proposed, repair)
    }

    /// Decides about a repair. An approved write-off closes the discrepancy; an approved undoing is begun by the next
    /// run that sees the same.
    ///
    /// - Throws: Why it is not carried out. Nothing has changed then.
    public func deciding(
        _ repair: Repair, _ decision: Repair.Decision, _ table: RepairTable
    ) throws(RepairRefusal) -> (discrepancy: Discrepancy, repair: Repair) {
        let facts = facts(of: repair, by: decision.by, at: decision.at)
        var decided = self
        let isTurnedDown = !decision.isApproved && !facts.isDecided && !facts.isExpired
        if !isTurnedDown, case .refuse(let refusal) = table.decide(facts).decision { throw refusal }
        decided.decided(repair, decision)
        return (decided, repair.decided(decision))
    }

    /// A digest of what a proposal is made from. A run that sees the same again changes nothing of it.
    var repairFacts: Digest {
        let facts = Facts(evidence)
        return Digest(of: [
            "reconciled.repair.discrepancy.1", state == .closed ? "closed" : "open", facts.finding.rawValue,
            facts.ours?.description ?? "-", facts.theirs?.description ?? "-", facts.standing?.rawValue ?? "-",
            facts.status?.rawValue ?? "-", facts.unexplained.map(String.init) ?? "-",
            evidence.theirs?.amount?.description ?? "-", evidence.theirs?.payment?.text ?? "-",
            evidence.theirs?.store?.text ?? "-", evidence.theirs?.isShared == true ? "shared" : "-",
        ])
    }

    private func facts(of repair: Repair, by person: String?, at now: Timestamp) -> RepairFacts {
        var facts = RepairFacts(action: repair.action)
        facts.isDiscrepancy = true
        facts.isDecided = repair.decision != nil
        facts.isExpired = now >= repair.expiresAt
        facts.isOwn = person == repair.proposedBy
        facts.isWaiting = state != .closed
        facts.isUnchanged = repairFacts == repair.facts
        facts.isUndoable = UnbookedTransaction.isShown(by: evidence)
        return facts
    }
}

extension Repair {
    /// What a discrepancy's history says of it.
    var words: String {
        var words = "\(action.rawValue) by \(id): \(evidence.text)"
        if let reference = evidence.reference { words += ", reference \(reference)" }
        if let file = evidence.file { words += ", sha256 \(file.hex)" }
        return words
    }
}
