extension PaymentMachine {
    /// A comparison found that the provider says otherwise. It is no evidence: the leg is asked about, and what the
    /// answer says is acted upon by the rows by which everything is.
    mutating func compared(_ difference: ComparedDifference, _ context: MachineContext) -> [PaymentAction] {
        let index = difference.leg
        guard payment.legs.indices.contains(index) else { return [] }
        record(
            .operation, leg: index,
            [
                AuditField("operation", "comparison"), AuditField("run", difference.run.text),
                AuditField("class", difference.finding.rawValue), AuditField("row", difference.row),
                AuditField("action", difference.action.rawValue),
            ], context)
        switch difference.action {
        case .settle where !difference.refunds.isEmpty && payment.conclusion?.state == .succeeded:
            searchRefunds(context)
        case .settle where payment.conclusion == nil || difference.hadEnded: askAgain(leg: index, context)
        case .settle: break  // It ended since, with a reason of its own. If it differs still, another run finds it.
        case .quarantine: return stop(leg: index, difference, context)
        case .undo, .tell: break
        }
        return []
    }

    /// The leg is asked about. What is known of it stays: a comparison makes the machine read, it does not make it
    /// forget.
    private mutating func askAgain(leg index: Int, _ context: MachineContext) {
        payment.legs[index].notBefore = context.now
        guard payment.legs[index].quarantine == nil else { return }
        switch payment.conclusion?.state {
        case .succeeded: break  // It stands; refunds that are under way read the status by themselves.
        case nil where payment.legs[index].gone == nil:
            payment.legs[index].readWantedSince = context.now
        case nil: break  // Once the payment has ended, another run finds it again.
        default:
            // It ended without success, and the leg seems to stand all the same. Reopened, it is undone again: asked
            // about first, and gone at once if it does not stand.
            payment.legs[index].gone = nil
            payment.legs[index].knowledge = nil
            payment.legs[index].conclusiveReads = 0
            // Also where our rows say that nothing was sent: the provider says otherwise.
            let worst = payment.legs[index].primary.worst
            payment.legs[index].primary.worst = worst.worsened(by: .indeterminate)
        }
    }

    private mutating func stop(
        leg index: Int, _ difference: ComparedDifference, _ context: MachineContext
    ) -> [PaymentAction] {
        let leg = payment.legs[index]
        var actions: [PaymentAction] = []
        guard payment.conclusion == nil, leg.gone == nil, leg.quarantine == nil else {
            return [
                .alert(
                    Alert(
                        payment: payment.id, leg: index, provider: leg.provider,
                        message: "both sides differ, and the leg cannot be quarantined any more"))
            ]
        }
        quarantine(
            .primary, leg: index, cause: .contradiction, by: Decided("compared.\(difference.row)"), mayHeal: false,
            &actions,
            context)
        return actions
    }
}
