/// What can happen to a discrepancy.
public enum DiscrepancyEvent: Sendable, Hashable {
    /// A run saw it again.
    case seen(ComparisonFinding, rule: ComparisonPolicy.Rule, run: ComparisonRunID)
    /// A run saw the position in flight again: nothing is judged, but what each side counts is kept up.
    case unjudged(ours: NetAmount?, theirs: NetAmount?, run: ComparisonRunID)
    /// A run saw that the sides agree.
    case healed(Discrepancy.CloseReason, ours: NetAmount?, theirs: NetAmount?, run: ComparisonRunID)
    /// What the policy says is begun.
    case acted(ComparisonAction, run: ComparisonRunID)
    /// A person gives it to somebody, or to nobody.
    case assigned(to: String?, by: String)
    /// A person says something.
    case commented(String, by: String)
    /// A person closes it, and says why.
    case closed(reason: String, by: String)
}

/// Why a discrepancy does not take an event of a person.
public enum DiscrepancyRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// It is closed already.
    case alreadyClosed
    /// A text is empty, or longer than allowed.
    case text(field: String, allowed: String)
    /// Its history is full of people's entries.
    case historyFull

    public var description: String {
        switch self {
        case .alreadyClosed: "it is closed already; only comments are taken"
        case .text(let field, let allowed): "\(field) must be \(allowed)"
        case .historyFull: "it has \(Discrepancy.mostEntries) entries; no more comments are taken"
        }
    }
}

extension Discrepancy {
    /// The longest comment or reason, in bytes of UTF-8.
    public static let longestText = 4_000
    /// The longest name of a person, in bytes of UTF-8.
    public static let longestName = 128
    /// With so many entries nobody may add comments any more; runs may always add theirs.
    public static let mostEntries = 1_000

    /// Takes an event in.
    ///
    /// - Throws: ``DiscrepancyRefusal`` for an event of a person; it is unchanged then. Events of runs are always
    /// taken.
    public mutating func handle(_ event: DiscrepancyEvent, at now: Timestamp) throws(DiscrepancyRefusal) {
        switch event {
        case .seen(let finding, let rule, let run): seen(finding, rule, run, now)
        case .unjudged(let ours, let theirs, let run):
            (oursNet, theirsNet, lastRun) = (ours, theirs, run)
        case .healed(let reason, let ours, let theirs, let run):
            (oursNet, theirsNet, lastRun) = (ours, theirs, run)
            guard state != .closed else { return }
            close(reason, text: reason.rawValue, run: run, by: nil, now)
        case .acted(let action, let run):
            guard state != .closed else { return }
            (state, actsAt) = (.settling, nil)
            let order = undoOrder.map { " by \($0.repair)" } ?? ""
            add(.acted, action.rawValue + order, run: run, by: nil, now)
        case .assigned(let person, let by):
            guard state != .closed else { throw .alreadyClosed }
            try Discrepancy.check(person ?? by, "assignee", Discrepancy.longestName)
            try checkRoom(by)
            assignee = person
            add(.assigned, person ?? "nobody", run: nil, by: by, now)
        case .commented(let text, let by):
            try Discrepancy.check(text, "comment", Discrepancy.longestText)
            try checkRoom(by)
            add(.commented, text, run: nil, by: by, now)
        case .closed(let reason, let by):
            guard state != .closed else { throw .alreadyClosed }
            try Discrepancy.check(reason, "reason", Discrepancy.longestText)
            try Discrepancy.check(by, "person", Discrepancy.longestName)
            close(.resolvedByPerson, text: reason, run: nil, by: by, now)
        }
    }

    /// What a person closed stays closed as long as nothing changes: the person decided about these facts.
    private mutating func seen(
        _ finding: ComparisonFinding, _ rule: ComparisonPolicy.Rule, _ run: ComparisonRunID, _ now: Timestamp
    ) {
        let before = Facts(evidence)
        let facts = Facts(finding)
        let settledByPerson = state == .closed && closeReason == .resolvedByPerson && facts == before
        evidence = finding
        (oursNet, theirsNet, atRisk) = (finding.ours?.net, finding.theirs?.net, finding.atRisk)
        (lastSeenAt, lastRun) = (now, run)
        guard !settledByPerson else { return }
        let voided = voidOrder(now)
        let rule = undoOrder == nil ? rule : ComparisonPolicy.Rule(.undo)
        let words = "\(finding.finding.rawValue) by \(finding.row)"
        if state == .closed {
            (state, closedAt, closeReason, openedAt) = (.open, nil, nil, now)
            add(.reopened, words, run: run, by: nil, now)
        } else if facts != before {
            add(.changed, words, run: run, by: nil, now)
        }
        if let voided {
            add(.commented, "the order of \(voided.repair) is void: propose it again", run: run, by: nil, now)
        }
        suggest(rule, changed: facts.finding != before.finding)
    }

    /// An order that was not begun is void once something else is seen than was decided about, nothing is shown that
    /// could be undone, or its time is over: a caller may have come again meanwhile, on a row that was lost.
    private mutating func voidOrder(_ now: Timestamp) -> UndoOrder? {
        guard let order = undoOrder else { return nil }
        let isLate = state != .settling && now >= order.until
        guard isLate || order.facts != repairFacts || !UnbookedTransaction.isShown(by: evidence) else { return nil }
        undoOrder = nil
        return order
    }

    private mutating func suggest(_ rule: ComparisonPolicy.Rule, changed: Bool) {
        let isNew = changed || rule.action != suggestion
        suggestion = rule.action
        guard state == .open || isNew else { return }
        state = .open
        actsAt = openedAt + rule.wait
    }

    private mutating func close(
        _ reason: CloseReason, text: String, run: ComparisonRunID?, by: String?, _ now: Timestamp
    ) {
        (state, closedAt, closeReason, actsAt) = (.closed, now, reason, nil)
        undoOrder = nil
        add(.closed, text, run: run, by: by, now)
    }

    mutating func noteProposal(of repair: Repair) {
        add(.commented, "proposes \(repair.words)", run: nil, by: repair.proposedBy, repair.proposedAt)
    }

    /// Two people decided: it is as the table let it through.
    mutating func decided(_ repair: Repair, _ decision: Repair.Decision) {
        let words = "\(repair.words); proposed by \(repair.proposedBy); \(decision.reason)"
        guard decision.isApproved else {
            return add(.commented, "rejects \(words)", run: nil, by: decision.by, decision.at)
        }
        guard repair.action == .undo else {
            return close(.resolvedByPerson, text: "approves \(words)", run: nil, by: decision.by, decision.at)
        }
        undoOrder = UndoOrder(repair: repair.id, facts: repairFacts, until: decision.at + UndoOrder.lasts)
        suggestion = .undo
        if state == .open { actsAt = decision.at }
        add(.commented, "approves \(words)", run: nil, by: decision.by, decision.at)
    }

    private mutating func add(
        _ kind: Entry.Kind, _ text: String, run: ComparisonRunID?, by: String?, _ now: Timestamp
    ) {
        history.append(Entry(at: now, kind: kind, run: run, by: by, text: text))
    }

    private func checkRoom(_ by: String) throws(DiscrepancyRefusal) {
        try Discrepancy.check(by, "person", Discrepancy.longestName)
        guard history.count < Discrepancy.mostEntries else { throw .historyFull }
    }

    private static func check(_ text: String, _ field: String, _ longest: Int) throws(DiscrepancyRefusal) {
        guard !text.isEmpty, text.utf8.count <= longest else {
            throw .text(field: field, allowed: "1 to \(longest) bytes of UTF-8")
        }
    }
}

extension Discrepancy {
    /// Why the difference is gone, by what is seen now.
    ///
    /// - Parameters:
    ///   - finding: what the position is now: `matched` or `inert`.
    ///   - ours: what our books say now.
    public func healing(now finding: ComparisonClass, ours: BookedPosition?) -> CloseReason {
        switch self.finding {
        case .unproven: return .proven
        case .hidden, .oursOnly: return state == .settling && ours != evidence.ours ? .settled : .listedLate
        case .orphan where ours != nil:
            // The payment that undoes it has it in our books as well; a caller who came again wants it to stand.
            let isTurnedBack = ours?.standing == .ended || ours?.standing == .givenBack
            return state == .settling ? isTurnedBack ? .undone : .adopted : .healedByLateAnswer
        case .orphan, .duplicate, .foreign: return state == .settling ? .undone : .correctedThere
        default: break
        }
        if finding == .inert { return .correctedThere }
        if state == .settling { return .settled }
        return Facts.standing(ours) == Facts.standing(evidence.ours) ? .correctedThere : .healedByLateAnswer
    }
}

extension Discrepancy.Facts {
    fileprivate static func standing(_ position: BookedPosition?) -> [String] {
        guard let position else { return [] }
        return [position.standing.rawValue, position.captured.description, position.refunded.description]
    }
}
