internal import PaymentCore
internal import Reconciler

extension TraceHash {
    /// Takes in what tells this happening from every other that might have been in its place. A change is told by the
    /// head of its audit trail, which is a hash over everything before it.
    mutating func add(_ happening: Happening) {
        add(happening.at.milliseconds)
        switch happening.what {
        case .asked(let operation, let attempt):
            add(1)
            add(text: operation.key.text)
            add(attempt)
        case .answered(let operation, let answer):
            add(2)
            add(text: operation.key.text)
            add(answer)
        case .committed(let commit):
            add(3)
            add(commit.replica << 8 | commit.site)
            add(commit.token?.number ?? 0)
            add(commit.after.version)
            add(bytes: commit.after.auditHead.hash.bytes)
            add(commit.after.dueAt?.milliseconds ?? 0)
        case .refused(let replica, let payment, _): add(4, replica, payment)
        case .sent(let replica, _, let order):
            add(5, replica, order.payment)
            add(text: order.key.text)
            add(order.number)
        case .arrived(let order, let outcome, let code):
            add(6, outcome.rawValue, order.payment)
            add(text: order.key.text)
            add(text: code)
        case .inquiring(let replica, _, let order, _): add(7, replica, order.payment)
        case .learned(let replica, _, _, let payment): add(8, replica, payment)
        case .alerted(let alert): add(9, alert.leg ?? -1, alert.payment)
        case .fault(let kind, let id, _):
            add(10)
            add(kind.rawValue)
            add(id)
        case .started(let replica, let site): add(11, replica << 8 | site, nil)
        case .stopping(let replica): add(12, replica, nil)
        case .stopped(let replica, let kept): add(13, replica << 8 | kept.count, kept.first)
        case .leased(_, let replica, let payment, let token):
            add(14, replica, payment)
            add(token.number)
        case .promoted(let site, let epoch, let lost): add(15, site << 16 | Int(epoch) << 8 | lost, nil)
        case .compared(let news): add(news)
        case .faultsEnded: add(16)
        }
    }

    private mutating func add(_ news: ComparisonNews) {
        switch news {
        case .planned(let run):
            add(17)
            add(text: run.id.text)
        case .claimed(let run, let replica, let token):
            add(18 << 32 | replica)
            add(text: run.id.text)
            add(token.number)
        case .recorded(let step, _, let replica, let token):
            add(19 << 32 | replica)
            add(text: step.run.id.text)
            add(token.number)
            add(step.run.version)
            add(step.positions.count << 32 | step.discrepancies.count)
            for position in step.positions { add(text: position.row) }
        case .ordered(let order, let replica):
            add(20 << 32 | replica)
            add(text: order.discrepancy.text)
            add(text: order.action.rawValue)
        }
    }

    private mutating func add(_ tag: Int, _ number: Int, _ payment: PaymentID?) {
        add(tag << 32 | number)
        if let payment { add(text: payment.text) }
    }

    private mutating func add(_ answer: CallerAnswer) {
        switch answer {
        case .settled(let state, let refund):
            add(text: state.rawValue)
            add(text: refund?.rawValue ?? "-")
        case .accepted(let state): add(text: "accepted \(state.rawValue)")
        case .refused(let state): add(text: "refused \(state.rawValue)")
        case .keyReused: add(-1)
        case .unavailable: add(-2)
        }
    }
}
