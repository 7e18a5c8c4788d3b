extension PaymentMachine {
    /// A payment that undoes a transaction which our books lack: its leg has the transaction's own key, and it is
    /// turned back from the beginning. So each request has its intent, its lease and its evidence, as all others have.
    ///
    /// What names a payment that our books lack takes that payment's own place: whoever is first, this or its caller
    /// who comes again, the other finds the place taken, so that nothing is undone that is being carried out. The
    /// amount is that of the first leg that was found.
    public static func undoing(
        _ transaction: UnbookedTransaction, _ context: MachineContext
    ) -> (machine: PaymentMachine, actions: [PaymentAction]) {
        let (caller, key) = (transaction.owner, transaction.ownerKey)
        let id = transaction.finding == .orphan ? transaction.payment : PaymentID(caller: caller, key: key)
        let leg = Leg(index: 0, undoing: transaction, in: id, context)
        var machine = PaymentMachine(
            payment: Payment(
                id: id, caller: caller, key: key, amount: transaction.amount, captureMode: .automatic,
                reference: caller.name, metadata: [:], deadline: context.now, createdAt: context.now,
                updatedAt: context.now,
                version: 0, legs: [leg], latch: .back, latchAcknowledged: context.commitsAreAcknowledged,
                stopReason: Reason(.legLost, detail: "not in the books; undone by \(transaction.run.text)"),
                cancel: nil, capture: nil, refunds: [], conclusion: nil, recovery: nil, dueAt: nil,
                dueProvider: nil, auditHead: .empty(id)))
        machine.record(.created, transaction.fields, context)
        let actions = machine.plan(context)
        return (machine, actions)
    }

    /// Another transaction of a payment that is undone was found, or the same once more.
    mutating func foundUnbooked(
        _ transaction: UnbookedTransaction, _ context: MachineContext
    ) -> [PaymentAction] {
        let known = payment.legs.first {
            $0.provider == transaction.provider && $0.primary.key == transaction.key
        }
        guard payment.undoesOthers else {
            // Its caller came again: the payment is carried out as every payment is, and what is a leg of it is no
            // stranger's any more.
            return known == nil ? leave(transaction, context) : []
        }
        if let known {
            let difference = ComparedDifference(
                leg: known.index, run: transaction.run, finding: transaction.finding, row: "theirs.orphan",
                action: .settle)
            return compared(difference, context)
        }
        let leg = Leg(index: payment.legs.count, undoing: transaction, in: payment.id, context)
        payment.legs.append(leg)
        record(.operation, leg: leg.index, [AuditField("operation", "undo")] + transaction.fields, context)
        return []
    }

    /// A caller's payment has the place of the one that undoes, and no leg with this transaction: what is charged there
    /// beyond its legs only people can give back.
    private mutating func leave(_ transaction: UnbookedTransaction, _ context: MachineContext) -> [PaymentAction] {
        record(.operation, [AuditField("operation", "undo, left to people")] + transaction.fields, context)
        return [
            .alert(
                Alert(
                    payment: payment.id, leg: nil, provider: transaction.provider,
                    message: "its provider has a transaction in its name that none of its legs has, and it is not "
                        + "undone because its caller came again"))
        ]
    }
}

extension Payment {
    /// Whether it undoes transactions that no request of ours made.
    package var undoesOthers: Bool { caller.name == UnbookedTransaction.caller }
}

extension UnbookedTransaction {
    fileprivate var fields: [AuditField] {
        [
            AuditField("amount", amount.description), AuditField("legs", "\(provider) \(amount)"),
            AuditField("undoes", key.text), AuditField("for", payment.text), AuditField("run", run.text),
            AuditField("class", finding.rawValue),
        ]
    }
}

extension Leg {
    fileprivate init(
        index: Int, undoing transaction: UnbookedTransaction, in payment: PaymentID, _ context: MachineContext
    ) {
        let isOnePhase = context.contracts[transaction.provider]?.phases == .sale
        var primary = Effect(
            kind: isOnePhase ? .sale : .authorize, key: transaction.key, amount: transaction.amount)
        // Somebody sent it, nobody here knows when, and the provider took it.
        let accepted = min(transaction.updatedAt ?? context.now, context.now)
        _ = primary.begin(at: accepted, notAfter: nil, wasDeclined: false)
        primary.end(.accepted, code: "listed", at: accepted)
        self.init(
            index: index, provider: transaction.provider, instrument: transaction.instrument,
            amount: transaction.amount, isOnePhase: isOnePhase, primary: primary, capture: nil, void: nil,
            compensation: nil, knowledge: nil, conclusiveReads: 0, inquiries: 0, notBefore: nil, loss: nil,
            gone: nil, capturedAmount: .zero(transaction.amount.currency), quarantine: nil)
        named = transaction.payment == payment ? nil : transaction.payment
        keySpace = context.contracts[transaction.provider]?.keySpace
    }
}
