internal import PaymentCore

/// A payment's row with its holder: the shipped machine itself, and the time by the store's clock.
struct LocalState: Sendable {
    var machine: PaymentMachine
    var now: Timestamp
    /// What reads that are under way will show, by leg, and when they began.
    var reading: [Reading?]
    /// The window of the site that has the row, after rows were lost.
    var window: RecoveryWindow?

    struct Reading: Hashable, Sendable {
        let view: ProviderLeg
        let began: Timestamp
    }

    var payment: Payment { machine.payment }
}

/// What a step did besides changing the row.
struct LocalStep {
    var state: LocalState
    var actions: [PaymentAction] = []
    var entries: [AuditEntry] = []
    /// A rule that the step broke.
    var broken: SearchFinding?
}

/// A broken invariant.
public struct SearchFinding: Error, Hashable, Sendable {
    /// Its number in the protocol.
    public let invariant: Int
    /// What is wrong.
    public let words: String
}

extension SearchWorld {
    /// A new payment, durable, with what it decided.
    func created(afterLoss: Bool, at now: Timestamp) -> LocalStep {
        let window = afterLoss && !has(.recoverySkipped) ? window(now) : nil
        let made = PaymentMachine.create(request, context(now), recovery: window)
        let state = LocalState(
            machine: made.machine, now: now, reading: request.legs.map { _ in nil }, window: window)
        return committed(state, made.actions, before: nil)
    }

    /// The row as a new holder finds it after rows were lost.
    func recovered(_ row: LocalState, mayBegin: Bool = true) -> LocalStep {
        var state = LocalState(
            machine: PaymentMachine(payment: row.payment), now: row.now + SearchWorld.tick,
            reading: row.reading.map { _ in nil })
        state.window = has(.recoverySkipped) ? nil : window(state.now)
        let event = state.window.claim(of: row.payment)
        let actions = state.machine.handle(event, context(state.now, mayBegin: mayBegin))
        return committed(state, actions, before: row.payment)
    }

    /// One step of the shipped machine; nil where the event means nothing.
    func step(_ from: LocalState, _ event: LocalEvent) -> LocalStep? {
        var state = from
        if let span = passing(event) {
            state.now = state.now + span
            return LocalStep(state: state)
        }
        state.now = state.now + SearchWorld.tick
        var context = context(state.now)
        context.recovery = has(.refundsOutsideWindow) ? nil : state.window
        var actions: [PaymentAction] = []
        switch event {
        case .cancels, .captures, .refunds:
            guard let made = operate(event, &state.machine, context) else { return nil }
            actions = made
        case .cancelsBeside:
            return besides(from, state)
        case .repaired(let target, let action):
            return repaired(from, state, target, action)
        case .readBegins(let leg, let view):
            state.reading[leg] = LocalState.Reading(view: view, began: state.now)
            return LocalStep(state: state)
        default:
            if event == .takenOver { state.reading = state.reading.map { _ in nil } }
            guard let machineEvent = machineEvent(event, &state) else { return nil }
            actions = state.machine.handle(machineEvent, context)
        }
        return committed(state, actions, before: from.payment)
    }

    private func passing(_ event: LocalEvent) -> Span? {
        switch event {
        case .lifePasses: requestLife
        case .retentionPasses: retention
        case .deadlinePasses: SearchWorld.toDeadline
        case .holdsEnd: holdLife
        default: nil
        }
    }

    private func operate(
        _ event: LocalEvent, _ machine: inout PaymentMachine, _ context: MachineContext
    ) -> [PaymentAction]? {
        do {
            switch event {
            case .captures:
                return try machine.capture(
                    key: IdempotencyKey("capture-1"), amounts: captureAmounts, context)
            case .refunds(let refundIndex):
                return try machine.refund(
                    key: IdempotencyKey("refund-\(refundIndex)"), amounts: [0: money(scenario.refunds[refundIndex])],
                    reason: nil,
                    context)
            default:
                return try machine.cancel(CancelRequest(key: IdempotencyKey("cancel-1"), at: context.now), context)
            }
        } catch { return nil }
    }

    /// A writer that does not hold the payment begins nothing; the holder goes on, on the newer row.
    private func besides(_ from: LocalState, _ timed: LocalState) -> LocalStep? {
        var writer = timed
        writer.machine = PaymentMachine(payment: from.payment)
        guard let actions = operate(.cancels, &writer.machine, context(timed.now, mayBegin: false)) else { return nil }
        var step = committed(writer, actions, before: from.payment)
        var holder = from.machine
        holder.rebase(on: step.state.payment)
        step.state.machine = holder
        step.state.reading = from.reading
        return step
    }

    private func machineEvent(_ event: LocalEvent, _ state: inout LocalState) -> PaymentEvent? {
        switch event {
        case .wakes: return .woke
        case .takenOver: return .claimed
        case .acknowledged: return .latchAcknowledged(state.payment.latch)
        case .ends(let leg, let outcome, let credentials):
            return attempted(leg, AttemptReport(outcome, code: "-", credentialsRefused: credentials), state)
        case .answered(let leg, let outcome, let view):
            let seen = observation(view, leg: leg, began: state.now, source: .answer)
            return attempted(leg, AttemptReport(outcome, code: "-", observation: seen), state)
        case .reads(let leg, let view):
            return .inquired(leg: leg, observation(view, leg: leg, began: state.now, source: .inquiry))
        case .readEnds(let leg):
            guard let reading = state.reading[leg] else { return nil }
            state.reading[leg] = nil
            let began = has(.readsDatedByTheirEnd) ? state.now : reading.began
            return .inquired(leg: leg, observation(reading.view, leg: leg, began: began, source: .inquiry))
        case .strays(let leg):
            return attempted(leg, AttemptReport(.refused, code: "-", namesKey: has(.keylessAnswersBelieved)), state)
        case .compared(let leg):
            guard let run = SearchWorld.comparison else { return nil }
            return .compared(
                ComparedDifference(
                    leg: leg, run: run, finding: .statusDiffers, row: "both.status", action: .settle))
        case .told(let leg, let slot, let isDone):
            return .notified(leg: leg, news(of: slot, leg: leg, isDone: isDone, at: state.now))
        case .toldAstray(let leg, let slot, let ofAnother):
            var news = news(of: slot, leg: leg, isDone: true, at: state.now)
            if ofAnother, !has(.newsOfAnybodyBelieved) { news.key = EffectKey(reported: "another-payment") }
            if !ofAnother { news.amount = money(SearchWorld.legAmount + 1) }
            return .notified(leg: leg, news)
        case .errs(let leg):
            return .inquired(
                leg: leg, Observation(.declined, began: state.now, source: .inquiry, key: keys[leg][0]))
        case .readFails(let leg):
            state.reading[leg] = nil
            return .inquired(leg: leg, Observation(.unavailable, began: state.now, source: .inquiry))
        case .contradicts(let leg):
            return .inquired(
                leg: leg,
                Observation(
                    .authorized, began: state.now, source: .inquiry, key: keys[leg][0],
                    amount: money(SearchWorld.legAmount + 1)))
        default: return nil
        }
    }

    /// Some run of a comparison.
    private static let comparison = ComparisonRunID(text: "cmp_" + String(repeating: "0", count: 40))

    private func attempted(_ leg: Int, _ report: AttemptReport, _ state: LocalState) -> PaymentEvent? {
        guard let open = openAttempt(state.payment, leg) else { return nil }
        return .attempted(leg: leg, effect: open.reference, number: open.number, report)
    }

    /// The attempt that is under way for a leg, by the row.
    func openAttempt(
        _ payment: Payment, _ index: Int
    ) -> (reference: EffectReference, slot: ProviderLeg.Slot, number: Int)? {
        let leg = payment.legs[index]
        if let open = leg.primary.open { return (.primary, .primary, open.number) }
        if let open = leg.capture?.open { return (.capture, .capture, open.number) }
        if let open = leg.void?.open { return (.void, .void, open.number) }
        if let open = leg.compensation?.open { return (.compensation, .compensation, open.number) }
        for (refundIndex, refund) in payment.refunds.enumerated() {
            guard let open = refund.parts.first(where: { $0.leg == index })?.effect.open,
                let slot = ProviderLeg.Slot.refund(refundIndex)
            else { continue }
            return (.refund(refundIndex), slot, open.number)
        }
        return nil
    }
}
