internal import PaymentCore
internal import Reconciler

/// One happening as a person reads it.
struct HappeningWords {
    /// Who or what it happens at.
    let origin: String
    /// What happens.
    let text: String
    /// The same without what counts up, so that repetitions are recognized.
    let shape: String

    init(_ origin: String, _ text: String, shape: String? = nil) {
        self.origin = origin
        self.text = text
        self.shape = shape ?? text
    }
}

/// Puts the happenings of one run into words.
struct TimelineWords {
    let plan: RunPlan

    /// The happening in words; nil for what only repeats another.
    func words(_ happening: Happening) -> HappeningWords? {
        switch happening.what {
        case .asked(let operation, let attempt):
            return asked(operation, attempt)
        case .answered(let operation, let answer):
            return HappeningWords(
                caller(operation), "is answered on \(name(operation)): \(TimelineWords.words(answer))")
        case .committed(let commit):
            return committed(commit)
        case .refused(let replica, let payment, let why):
            return HappeningWords(self.replica(replica), "may not write \(name(payment)): \(why)")
        case .sent(let replica, _, let order):
            let words = "sends \(TimelineWords.name(order)) of \(name(order.payment)) leg \(order.leg) "
            return HappeningWords(
                self.replica(replica), words + "to \(order.provider), \(order.amount), attempt \(order.number)",
                shape: words)
        case .arrived(let order, let outcome, let code):
            let words = "takes \(TimelineWords.name(order)) of \(name(order.payment)) leg \(order.leg)"
            let end = ": \(outcome.name)\(code == outcome.name ? "" : " (\(code))")"
            return HappeningWords(
                "\(order.provider)", words + ", attempt \(order.number)" + end, shape: words + end)
        case .alerted(let alert):
            let leg = alert.leg.map { " leg \($0)" } ?? ""
            return HappeningWords("people", "are told about \(name(alert.payment))\(leg): \(alert.message)")
        case .fault(let kind, let id, _):
            return HappeningWords("FAULT", "\(kind.name) \(String(id, radix: 16))", shape: kind.name)
        case .started(let replica, _):
            return happening.at == plan.start ? nil : HappeningWords(self.replica(replica), "starts")
        case .stopping(let replica):
            return HappeningWords(self.replica(replica), "is told to stop")
        case .stopped(let replica, let kept):
            let leases = kept.isEmpty ? "" : ", and keeps \(kept.map(name).joined(separator: ", ")) from others"
            return HappeningWords(self.replica(replica), "stopped\(leases)")
        case .promoted(let site, let epoch, let lost):
            let rows = lost == 0 ? "with every row" : "without the latest \(lost) changes"
            return HappeningWords("site \(site)", "becomes the active one, epoch \(epoch), \(rows)")
        case .compared(let news):
            return compared(news)
        case .faultsEnded:
            return HappeningWords("run", "no fault strikes from here on")
        case .inquiring, .learned, .leased:
            // The change that takes it in says the same.
            return nil
        }
    }

    /// The payment that a happening is about; nil if it is about none, or about all.
    func payment(_ happening: Happening) -> PaymentID? {
        switch happening.what {
        case .asked(let operation, _), .answered(let operation, _): operation.payment
        case .committed(let commit): commit.after.id
        case .refused(_, let payment, _), .learned(_, _, _, let payment), .leased(_, _, let payment, _): payment
        case .sent(_, _, let order), .arrived(let order, _, _): order.payment
        case .inquiring(_, _, let order, _): order.payment
        case .alerted(let alert): alert.payment
        case .compared(.ordered(let order, _)): order.finding.payment
        case .stopped(_, let kept): kept.first
        case .compared, .fault, .started, .stopping, .promoted, .faultsEnded: nil
        }
    }

    /// Runs in which nothing differs are not told.
    private func compared(_ news: ComparisonNews) -> HappeningWords? {
        switch news {
        case .planned, .claimed: return nil
        case .recorded(let step, _, let replica, _):
            let found = step.findings.map { finding in
                let subject = finding.evidence.payment.map { name($0) } ?? "\(finding.evidence.subject)"
                return "\(finding.outcome.rawValue) \(finding.evidence.finding.rawValue) of \(subject)"
                    + " by [\(finding.evidence.row)]" + (finding.closeReason.map { ", \($0.rawValue)" } ?? "")
            }
            guard !found.isEmpty else { return nil }
            return HappeningWords(
                self.replica(replica), "compares \(step.run.provider): " + found.joined(separator: "; "))
        case .ordered(let order, let replica):
            let subject = order.finding.payment.map { name($0) } ?? "\(order.discrepancy)"
            return HappeningWords(
                self.replica(replica),
                "hands on \(order.action.rawValue) of \(subject), \(order.finding.finding.rawValue)")
        }
    }

    private func asked(_ operation: CallerOperation, _ attempt: Int) -> HappeningWords {
        let words = "asks to \(name(operation)) under \(operation.key.text)"
        return HappeningWords(caller(operation), attempt > 1 ? "\(words), time \(attempt)" : words, shape: words)
    }

    private func committed(_ commit: Commit) -> HappeningWords {
        let after = commit.after
        var words: [String] = []
        if let before = commit.before {
            if before.state != after.state {
                words.append("\(before.state.rawValue) becomes \(after.state.rawValue)")
            }
            if before.latch != after.latch {
                words.append("latch \(before.latch.rawValue) becomes \(after.latch.rawValue)")
            }
        } else {
            words.append("new, \(after.state.rawValue)")
        }
        var shapes = words
        for entry in commit.entries {
            words.append(TimelineWords.words(entry, withNumbers: true))
            shapes.append(TimelineWords.words(entry, withNumbers: false))
        }
        if words.isEmpty { words.append("nothing but when to look again") }
        let start = "writes \(name(after.id)) version \(after.version): "
        return HappeningWords(
            replica(commit.replica), start + words.joined(separator: "; "),
            shape: name(after.id) + shapes.joined(separator: "; "))
    }

    /// An audit entry. What the reader knows already is left out: keys, hashes, moments.
    private static func words(_ entry: AuditEntry, withNumbers: Bool) -> String {
        let known: Set<String> = ["key", "bytes_written", "kind"]
        let counting: Set<String> = ["attempt", "began"]
        let fields = entry.fields.filter { field in
            !known.contains(field.name) && !(field.value == "-" || field.value.isEmpty)
                && (withNumbers && field.name != "began" || !counting.contains(field.name))
        }
        let leg = entry.leg.map { " leg \($0)" } ?? ""
        let values = fields.map { $0.name == "row" ? "[\($0.value)]" : "\($0.name) \($0.value)" }
        return ([entry.type.rawValue + leg] + values).joined(separator: " ")
    }

    private static func words(_ answer: CallerAnswer) -> String {
        switch answer {
        case .settled(let state, let refund):
            "settled, \(state.rawValue)\(refund.map { ", refund \($0.rawValue)" } ?? "")"
        case .accepted(let state): "accepted, \(state.rawValue) (202)"
        case .refused(let state): "cannot be, it is \(state.rawValue) (409)"
        case .keyReused: "the key was used for something else (422)"
        case .unavailable: "not available, ask again (503)"
        }
    }

    private static func name(_ order: SendOrder) -> String {
        order.effect == .primary ? order.kind.rawValue : "\(order.effect)"
    }

    private func name(_ operation: CallerOperation) -> String {
        let what =
            switch operation.kind {
            case .create(let body): body == 0 ? "create" : "create with another body"
            case .cancel: "cancel"
            case .capture(let amounts): amounts.map { "capture \($0) of" } ?? "capture"
            case .refund(let amounts): amounts.map { "refund \($0) of" } ?? "refund"
            }
        return "\(what) \(name(operation.payment))"
    }

    /// Payments are named by their place in the plan, as `--keep-payments` has it.
    func name(_ payment: PaymentID) -> String { plan.index(of: payment).map { "payment \($0)" } ?? payment.text }

    private func caller(_ operation: CallerOperation) -> String { "\(operation.caller)" }

    private func replica(_ replica: Int) -> String {
        plan.sites == 1 ? "replica \(replica)" : "replica \(replica), site \(replica / plan.replicasPerSite)"
    }
}
