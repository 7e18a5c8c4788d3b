// What providers that cannot be asked tell of their own accord.

extension PaymentMachine {
    /// A provider told what became of an effect. It counts where the provider cannot be asked; elsewhere the status is
    /// read.
    mutating func notified(leg index: Int, _ news: EffectNews, _ context: MachineContext) -> [PaymentAction] {
        // What a provider signs counts in whichever key space the leg is.
        guard payment.legs.indices.contains(index), let contract = context.contracts[payment.legs[index].provider],
            contract.inquiry == .byResend
        else { return [] }
        var fields = [
            AuditField("operation", "notified"), AuditField("state", news.word.state.rawValue),
            AuditField("at", news.word.at.rfc3339), AuditField("reference", news.reference ?? "-"),
        ]
        if let reason = news.word.reason { fields.append(AuditField("code", reason)) }
        guard let reference = effectReference(of: news, leg: index), let effect = effect(reference, ofLeg: index) else {
            record(
                .operation, leg: index,
                fields + [AuditField("kind", news.kind.rawValue), AuditField("believed", "no")], context)
            return [alert(leg: index, "the provider tells of a change that was not asked for here")]
        }
        fields.append(AuditField("effect", reference.description))
        // After lost rows the row of its request may be the one that is missing.
        let wasSent = effect.attempts > 0 || payment.recovery != nil
        guard wasSent, news.amount == nil || news.amount == effect.amount else {
            record(.operation, leg: index, fields + [AuditField("believed", "no")], context)
            return [alert(leg: index, "a notification does not fit what was sent: look at the provider's own books")]
        }
        if !news.isDateSigned, effect.isUndone(by: news.word) {
            record(.operation, leg: index, fields + [AuditField("believed", "no")], context)
            // Late, and told to nobody: it was so before it failed.
            guard let known = effect.word, news.word.at > known.at else { return [] }
            return [
                alert(
                    leg: index,
                    "a notification says that what had failed was done, and its date is not signed: look at the "
                        + "provider's own books")
            ]
        }
        let before = effect.word
        var word = news.word
        word.isTold = true
        withEffect(reference, ofLeg: index) {
            $0.hear(word, isDateSigned: news.isDateSigned)
            $0.theirs = $0.theirs ?? news.reference
        }
        guard let after = self.effect(reference, ofLeg: index)?.word, after != before else { return [] }
        record(.operation, leg: index, fields, context)
        liftQuarantine(leg: index, about: reference, context)
        guard !busy.contains(index) else { return [] }
        payment.legs[index].knowledge = nil
        var actions: [PaymentAction] = []
        if let seen = readFromRows(leg: index, contract, began: context.now) {
            actions += inquired(leg: index, seen, context)
        }
        if let message = reversal(of: reference, after, leg: index) {
            actions.append(alert(leg: index, message))
        }
        return actions
    }

    /// Which effect of a leg news are about: by the provider's reference, by its own key, or, where the key of the
    /// transaction is all that they name, the capture or void that has no reference yet.
    private func effectReference(of news: EffectNews, leg index: Int) -> EffectReference? {
        let known = effectReferences(ofLeg: index).compactMap { reference in
            effect(reference, ofLeg: index).map { (reference, $0) }
        }
        let sameKind = known.filter { $0.1.kind.isSame(as: news.kind) }
        if let named = news.reference, let found = sameKind.first(where: { $0.1.theirs == named }) { return found.0 }
        // What is known under another reference is another transaction, whatever key it names.
        let open = sameKind.filter { $0.1.theirs == nil || news.reference == nil }
        if let found = open.first(where: { $0.1.key == news.key }) { return found.0 }
        // A refund that names only its payment may be anybody's.
        guard news.key == payment.legs[index].primary.key, news.kind != .refund else { return nil }
        let sent = open.filter { $0.1.attempts > 0 }
        return sent.count == 1 ? sent[0].0 : nil
    }

    /// Why people are asked where nothing but the provider's word is missing.
    private static let liftedByNews: Set<QuarantineCause> = [.keyTooOld, .unconfirmed]

    /// People were asked because nobody could tell what became of an effect; its provider has told.
    private mutating func liftQuarantine(leg index: Int, about reference: EffectReference, _ context: MachineContext) {
        var isLifted = false
        if let quarantine = payment.legs[index].quarantine, quarantine.effect == reference,
            PaymentMachine.liftedByNews.contains(quarantine.cause)
        {
            payment.legs[index].quarantine = nil
            payment.legs[index].notBefore = nil
            isLifted = true
        }
        if case .refund(let refundIndex) = reference {
            for part in payment.refunds[refundIndex].parts.indices {
                let known = payment.refunds[refundIndex].parts[part]
                guard known.leg == index, known.state == .quarantined,
                    let cause = known.reason.flatMap(QuarantineCause.init(rawValue:)),
                    PaymentMachine.liftedByNews.contains(cause)
                else { continue }
                payment.refunds[refundIndex].parts[part].state = .processing
                payment.refunds[refundIndex].parts[part].reason = nil
                isLifted = true
            }
        }
        guard isLifted else { return }
        record(
            .decision, leg: index,
            [AuditField("row", "notified.settles"), AuditField("decision", "quarantine lifted")], context)
    }

    /// What people are told where something ended otherwise than the payment or the refund did; `nil` where it did not.
    private func reversal(of reference: EffectReference, _ word: ProviderWord, leg index: Int) -> String? {
        let isDone = word.state == .succeeded
        let isReversed: Bool
        switch reference {
        case .primary, .capture: isReversed = !isDone && payment.conclusion?.state == .succeeded
        case .void, .compensation: isReversed = !isDone && payment.conclusion != nil
        case .refund(let refundIndex):
            let ended: RefundState = isDone ? .failed : .succeeded
            isReversed = payment.refunds[refundIndex].parts.contains { $0.leg == index && $0.state == ended }
        }
        guard isReversed else { return nil }
        return isDone
            ? "a refund that had failed was made after all" : "the provider took back what it had said was done"
    }
}

extension EffectKind {
    /// Whether a provider may mean the same by both: what it holds and what it takes at once are authorizations to
    /// some.
    fileprivate func isSame(as other: EffectKind) -> Bool {
        let beginnings: Set<EffectKind> = [.authorize, .sale]
        return self == other || beginnings.isSuperset(of: [self, other])
    }
}
