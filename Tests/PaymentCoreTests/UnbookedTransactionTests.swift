import PaymentCore
import Testing

/// What undoes a transaction that a provider has and the books have not.
@Suite struct UnbookedTransactionTests {
    private let card: ProviderName
    private let now = Compared.start + .hours(3)

    init() throws { card = try Compared.provider() }

    private func context(_ contract: ProviderContract = .reference, plug: Bool = false) -> MachineContext {
        var context = MachineContext(now: now, contracts: [card: contract])
        context.policy.plugAllowed = plug
        return context
    }

    private func transaction(
        _ key: String = "k", names: String = "lost", _ found: ComparisonClass = .orphan, amount: Int64 = 1_000
    ) throws -> UnbookedTransaction {
        let theirs = try Compared.theirs(key, .captured, amount: amount, names: names)
        let finding = try Compared.finding(found, theirs: theirs, key: key)
        return try #require(UnbookedTransaction(finding, run: Compared.run().id))
    }

    /// A provider on which the transaction stands.
    private func ledger(_ transaction: UnbookedTransaction, captured: Bool, _ contract: ProviderContract) throws
        -> Ledger
    {
        var ledger = Ledger(contract)
        func order(_ kind: EffectKind, _ key: String) throws -> SendOrder {
            SendOrder(
                payment: transaction.payment, leg: 0, effect: .primary, number: 1, provider: card, kind: kind,
                transactionKey: transaction.key, key: kind == .capture ? EffectKey(reported: key) : transaction.key,
                amount: transaction.amount, instrument: try Instrument(token: "tok_1"), caller: try CallerID("shop"),
                reference: nil, notAfter: nil, startBefore: now)
        }
        let start = Compared.start
        if contract.phases == .sale {
            _ = ledger.execute(try order(.sale, "sale"), at: start)
        } else {
            _ = ledger.execute(try order(.authorize, "authorize"), at: start)
            if captured { _ = ledger.execute(try order(.capture, "theirs"), at: start) }
        }
        return ledger
    }

    /// Steps the machine against the ledger until it has nothing more to do.
    private func settle(
        _ machine: inout PaymentMachine, _ first: [PaymentAction], _ ledger: inout Ledger,
        _ contract: ProviderContract, plug: Bool = false
    ) -> [SendOrder] {
        var (actions, sent, context) = (first, [SendOrder](), context(contract, plug: plug))
        for _ in 0..<100 {
            while !actions.isEmpty {
                switch actions.removeFirst() {
                case .send(let order):
                    sent.append(order)
                    let report = ledger.execute(order, at: context.now)
                    actions += machine.handle(
                        .attempted(leg: order.leg, effect: order.effect, number: order.number, report), context)
                case .inquire(let order):
                    let seen = ledger.observe(order.transactionKey, began: context.now)
                    actions += machine.handle(.inquired(leg: order.leg, seen), context)
                case .alert: break
                }
            }
            guard let due = machine.payment.dueAt, machine.payment.state != .quarantined else { break }
            context.now = max(context.now + .milliseconds(1), due)
            actions = machine.handle(.woke, context)
        }
        return sent
    }

    @Test(arguments: [ProviderContract.reference, .referenceSale])
    func `what was taken is given back, what is held is voided, under its own key`(_ contract: ProviderContract) throws
    {
        for isCaptured in [true, false] where isCaptured || contract.phases == .authorizeCapture {
            let orphan = try transaction()
            var ledger = try ledger(orphan, captured: isCaptured, contract)
            var (machine, actions) = PaymentMachine.undoing(orphan, context(contract))
            #expect(machine.payment.id == orphan.payment, "it takes the lost payment's place")
            #expect(machine.payment.caller.name == UnbookedTransaction.caller)
            let sent = settle(&machine, actions, &ledger, contract)
            #expect(machine.payment.state == .failed && ledger.net(orphan.key) == 0 && !ledger.isHeld(orphan.key))
            #expect(sent.allSatisfy { $0.transactionKey == orphan.key && ($0.kind == .void || $0.kind == .refund) })
            #expect(machine.newEntries.first?.fields.contains(AuditField("undoes", "k")) == true)
            let position = try #require(machine.payment.bookedPositions.first)
            #expect(position.key == orphan.key && position.work == .none)
            #expect(position.net.value == 0)
        }
    }

    @Test func `an undoing is stored as it was planned: due, and with its question under way`() throws {
        var (machine, actions) = PaymentMachine.undoing(try transaction(), context())
        guard case .inquire = actions.first, actions.count == 1 else {
            Issue.record("it began with \(actions)")
            return
        }
        #expect(machine.payment.dueAt == now, "whoever finds it abandoned goes on")
        #expect(machine.busy == [0])
        #expect(machine.handle(.woke, context()).isEmpty, "it is not asked about twice at a time")
    }

    private struct NotGivenBack: Error {}

    /// An undoing whose question was answered, the refund that it sends then, and the answer.
    private func givingBack(
        _ transaction: UnbookedTransaction
    ) throws -> (machine: PaymentMachine, order: SendOrder, seen: Observation) {
        let ledger = try ledger(transaction, captured: true, .reference)
        var machine = PaymentMachine.undoing(transaction, context()).machine
        let seen = ledger.observe(transaction.key, began: now)
        guard case .send(let order) = machine.handle(.inquired(leg: 0, seen), context()).first else {
            throw NotGivenBack()
        }
        return (machine, order, seen)
    }

    @Test func `an answer that comes while a request is on its way changes nothing`() throws {
        var (machine, order, seen) = try givingBack(transaction())
        let before = machine
        #expect(machine.handle(.inquired(leg: 0, seen), context()).isEmpty)
        #expect(machine.payment == before.payment && machine.busy == [0] && machine.newEntries == before.newEntries)
        #expect(machine.payment.legs[0].compensation?.open?.number == order.number)
    }

    @Test func `an answer that meets a request of another holder is taken in, so that it is found out who holds it`()
        throws
    {
        let orphan = try transaction()
        let (other, _, seen) = try givingBack(orphan)
        var machine = PaymentMachine.undoing(orphan, context()).machine
        machine.rebase(on: other.payment)
        _ = machine.handle(.inquired(leg: 0, seen), context())
        #expect(machine.payment != other.payment, "only a write shows that the lease is lost")
    }

    @Test func `what is sent about a duplicate names the payment that its provider shows`() throws {
        let duplicate = try transaction("k9", names: "known", .duplicate)
        let (machine, order, _) = try givingBack(duplicate)
        #expect(order.shownPayment == duplicate.payment, "else its answer would be taken for that of another payment")
        #expect(order.payment == machine.payment.id)
    }

    @Test func `what nobody shows any more is left to people, and nothing is sent`() throws {
        let orphan = try transaction()
        var empty = Ledger(.enforcing)
        var (machine, actions) = PaymentMachine.undoing(orphan, context(.enforcing))
        let sent = settle(&machine, actions, &empty, .enforcing)
        #expect(machine.payment.state == .quarantined && sent.isEmpty)
    }

    /// Seed 7757860689308: two people had it sent again, and the daemon would have charged what nobody had asked for.
    @Test func `what no request of ours made is not sent again, whoever wants it`() throws {
        let orphan = try transaction()
        var empty = Ledger(.enforcing)
        var (machine, actions) = PaymentMachine.undoing(orphan, context(.enforcing))
        _ = settle(&machine, actions, &empty, .enforcing)
        let request = RepairRequest(
            payment: machine.payment.id, target: .leg(0), action: .sendAgain,
            evidence: Repair.Evidence(text: "their letter", reference: "theirs-1", amount: orphan.amount),
            isAgainstProvider: true, version: machine.payment.version, by: "ann", lasts: .hours(1))
        #expect(throws: RepairRefusal.notOurs) {
            try PaymentMachine.propose(request, of: machine.payment, context(.enforcing))
        }
    }

    @Test(arguments: [ProviderContract.unaskable, .unaskableSale])
    func `what no request of ours made is not sent to learn of it`(_ contract: ProviderContract) throws {
        let orphan = try transaction()
        var ledger = Ledger(contract)
        var (machine, actions) = PaymentMachine.undoing(orphan, context(contract, plug: true))
        let sent = settle(&machine, actions, &ledger, contract, plug: true)
        #expect(machine.payment.state == .quarantined && sent.isEmpty, "\(sent.map(\.kind))")
    }

    @Test func `the transactions of one lost payment are undone in one place, found in any order`() throws {
        let (first, second) = (try transaction("k1"), try transaction("k2", amount: 400))
        var ledger = try ledger(first, captured: true, .reference)
        var (machine, actions) = PaymentMachine.undoing(first, context())
        _ = settle(&machine, actions, &ledger, .reference)
        #expect(machine.payment.state == .failed)
        // The other one is found by a later run.
        var other = try self.ledger(second, captured: true, .reference)
        let more = machine.handle(.unbooked(second), context())
        _ = settle(&machine, more, &other, .reference)
        #expect(machine.payment.legs.map(\.primary.key) == [first.key, second.key])
        #expect(machine.payment.state == .failed && other.net(second.key) == 0)
        // The same once more adds nothing.
        let sent = settle(&machine, machine.handle(.unbooked(second), context()), &other, .reference)
        #expect(machine.payment.legs.count == 2 && sent.isEmpty)
    }

    @Test func `a payment whose caller came again is carried out, and a person is told of what it does not have`()
        throws
    {
        let fixture = try Fixture()
        var stage = try fixture.stage([.reference])
        stage.run()
        let before = stage.durable
        let leg = try #require(before.legs.first)
        _ = stage.restarted()
        let version = stage.durable.version
        // What it carries out is no stranger's.
        stage.handle(.unbooked(try found(leg.primary.key, of: before, at: leg.provider)))
        #expect(stage.durable.version == version && stage.alerts.isEmpty)
        // The same key at another provider is another transaction.
        for (key, provider) in [
            (EffectKey(reported: "k"), leg.provider), (leg.primary.key, try ProviderName("elsewhere")),
        ] {
            _ = stage.restarted()
            stage.alerts = []
            stage.handle(.unbooked(try found(key, of: before, at: provider)))
            #expect(stage.durable.legs == before.legs && stage.durable.state == before.state)
            #expect(stage.alerts.map(\.payment) == [before.id])
            #expect(stage.alerts.first?.provider == provider && stage.alerts.first?.leg == nil)
            let told = stage.trail.last
            #expect(told?.fields.contains(AuditField("operation", "undo, left to people")) == true)
            #expect(told?.fields.contains(AuditField("undoes", key.text)) == true)
        }
    }

    /// A transaction that a run found under a key, and that names a payment.
    private func found(_ key: EffectKey, of payment: Payment, at provider: ProviderName) throws -> UnbookedTransaction {
        let theirs = ListedPosition(
            key: key, payment: payment.id, leg: 0, status: .captured, amount: payment.amount, captured: payment.amount,
            refunds: [], updatedAt: now, contradiction: nil, store: Compared.store)
        let table = ComparisonTable(rows: [ComparisonTable.Row("a.row", .orphan) { _ in true }])
        let verdict = table.classify(ComparisonFacts(ours: .unknown, theirs: .taken))
        let finding = ComparisonFinding(provider: provider, key: key, verdict, ours: nil, named: nil, theirs: theirs)
        return try #require(UnbookedTransaction(finding, run: Compared.run().id))
    }

    @Test func `a duplicate is undone beside the payment that it names`() throws {
        let duplicate = try transaction("k9", names: "known", .duplicate)
        let machine = PaymentMachine.undoing(duplicate, context()).machine
        #expect(machine.payment.id != duplicate.payment)
        #expect(machine.payment.legs[0].named == duplicate.payment, "its provider shows that name")
        #expect(PaymentMachine.undoing(duplicate, context()).machine.payment.id == machine.payment.id)
    }

    @Test func `what is no orphan or duplicate, or shows no amount, is not undone`() throws {
        let run = try Compared.run().id
        let shown = try Compared.theirs("k", .captured, names: "x")
        for found in ComparisonClass.differences where found != .orphan && found != .duplicate && found != .unproven {
            #expect(UnbookedTransaction(try Compared.finding(found, theirs: shown), run: run) == nil)
        }
        let storeless = try Compared.theirs("k", .captured, names: "x", store: nil)
        #expect(UnbookedTransaction(try Compared.finding(.orphan, theirs: storeless), run: run) == nil)
        let nameless = try Compared.theirs("k", .captured)
        #expect(UnbookedTransaction(try Compared.finding(.orphan, theirs: nameless), run: run) == nil)
    }
}
