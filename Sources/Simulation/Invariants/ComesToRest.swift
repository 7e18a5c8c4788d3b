public import PaymentCore

/// Invariant 15. Once faults stop, everything ends, and people are asked only where nothing safe is left.
public struct ComesToRest: Invariant {
    /// Its number in the protocol.
    public static let number = 15
    /// What holds.
    public static let sentence =
        "once faults stop, every payment is final, authorized until its expiry, or quarantined within its deadline; "
        + "quarantined are exactly those whose facts leave no safe row; none starves"
    /// What did not.
    public private(set) var findings = Findings(number)

    /// How long after the last reason to wait a payment may take to end: the longest delay of the schedules,
    /// a few times over.
    public static let settlesWithin = Span.days(5)

    private var faultsEndedAt: Timestamp?
    /// The last time at which the caller or people, or nothing but them, kept a payment waiting.
    private var waitingSince: [PaymentID: Timestamp] = [:]
    /// Operations that were asked; repeating one is no reason to wait longer.
    private var operations: Set<Operation> = []

    private struct Operation: Hashable {
        let payment: PaymentID
        let key: IdempotencyKey
    }

    /// The invariant.
    public init() {}

    /// Notes that faults are over.
    public mutating func faultsEnded(at: Timestamp, _ evidence: Evidence) { faultsEndedAt = at }

    /// Notes what is asked.
    public mutating func asked(_ operation: CallerOperation, at: Timestamp, _ evidence: Evidence) {
        let asked = Operation(payment: operation.payment, key: operation.key)
        if operations.insert(asked).inserted { waitingSince[operation.payment] = at }
    }

    /// Judges a durable change.
    public mutating func committed(_ commit: Commit, at: Timestamp, _ evidence: Evidence) {
        let payment = commit.after
        // People take their time, and so does a loss that is under review (seeds 2147401577, 2147401847).
        if let before = commit.before, before.isResting || before.state == .quarantined {
            waitingSince[payment.id] = at
        }
        for leg in payment.legs
        where leg.quarantine != nil && commit.before?.leg(leg.index)?.quarantine == nil {
            judgeQuarantine(of: leg, in: payment, at, evidence)
        }
        for (refundIndex, refund) in payment.refunds.enumerated() {
            for part in refund.parts where part.state == .quarantined {
                guard commit.before?.refundPart(refundIndex, leg: part.leg)?.state != .quarantined else { continue }
                judgeQuarantine(of: part, in: payment, at, evidence)
            }
        }
        guard let ended = faultsEndedAt, commit.before?.conclusion == nil, payment.conclusion != nil else {
            return
        }
        let began = max(ended, max(payment.createdAt, waitingSince[payment.id] ?? ended))
        findings.require(
            at - began <= ComesToRest.settlesWithin, at, payment.id,
            "it took \((at - began).milliseconds / 60_000) minutes to end after faults were over")
    }

    private mutating func judgeQuarantine(
        of leg: Leg, in payment: Payment, _ at: Timestamp, _ evidence: Evidence
    ) {
        guard let quarantine = leg.quarantine, let provider = evidence.provider(leg.provider) else { return }
        // That a difference is left to people is what the operator decided; whether it is one, 21 judges.
        guard !quarantine.row.hasPrefix("compared.") else { return }
        let judgement = QuarantineJudgement(
            payment: payment, leg: leg, effect: leg.named(quarantine.effect) ?? leg.primary,
            reference: quarantine.effect, provider: provider, evidence: evidence)
        findings.require(
            judgement.justifies(quarantine.cause, undoing: quarantine.row.hasPrefix("undo.")), at, payment.id,
            "leg \(leg.index) was quarantined by \(quarantine.row) although a safe row was left")
    }

    private mutating func judgeQuarantine(
        of part: Refund.Part, in payment: Payment, _ at: Timestamp, _ evidence: Evidence
    ) {
        guard let leg = payment.leg(part.leg), let provider = evidence.provider(leg.provider),
            let cause = part.reason.flatMap(QuarantineCause.init(rawValue:))
        else { return }
        let judgement = QuarantineJudgement(
            payment: payment, leg: leg, effect: part.effect, reference: .refund(0), provider: provider,
            evidence: evidence)
        findings.require(
            judgement.justifies(cause, undoing: false), at, payment.id,
            "a refund of leg \(leg.index) was quarantined for \(cause.rawValue) although a safe row was left")
    }

    /// Judges the end.
    public mutating func atRest(_ evidence: Evidence) {
        for payment in evidence.rows.everyPayment() { rest(payment, evidence) }
    }

    private mutating func rest(_ payment: Payment, _ evidence: Evidence) {
        let now = evidence.now
        switch payment.state {
        case .succeeded, .canceled, .failed:
            let open = payment.refunds.contains { $0.state == .processing }
            findings.require(!open, now, payment.id, "a refund is still under way at rest")
        case .authorized:
            findings.require(
                ComesToRest.mayRest(payment, evidence), now, payment.id,
                "it is authorized past the end of its hold")
        case .quarantined:
            for leg in payment.legs where leg.quarantine == nil {
                findings.require(
                    ComesToRest.isDone(leg, payment, evidence), now, payment.id,
                    "leg \(leg.index) was left behind beside a quarantined one")
            }
        case .processing, .requiresAction, .canceling:
            findings.require(false, now, payment.id, "it is \(payment.state.rawValue) for ever")
        }
    }

    private static func mayRest(_ payment: Payment, _ evidence: Evidence) -> Bool {
        payment.legs.allSatisfy { ComesToRest.mayHold($0, payment, evidence) }
    }

    private static func mayHold(_ leg: Leg, _ payment: Payment, _ evidence: Evidence) -> Bool {
        if let until = leg.knowledge?.authorizedUntil { return evidence.now < until }
        guard let life = evidence.provider(leg.provider)?.contract.authorizationLife else { return true }
        return evidence.now < (leg.primary.firstIntentAt ?? payment.createdAt) + life
    }

    /// It rested before a leg of it went to people: its other holds wait for its caller, as they did before. Where
    /// people decide about what others captured, nothing is undone before that, however long it takes, and whether it
    /// rested or not.
    private static func isHeldForItsCaller(_ leg: Leg, _ payment: Payment, _ evidence: Evidence) -> Bool {
        let isCapturedOutside = payment.legs.contains { $0.quarantine?.cause == .captureRequestLost }
        guard leg.knowledge?.status == .authorized else { return false }
        return isCapturedOutside || payment.heldAt != nil && mayHold(leg, payment, evidence)
    }

    /// Rows were lost, something is taken, and whether that was a success is what people decide: until then nothing may
    /// be undone, and nothing be taken beside it.
    private static func isProofWithPeople(_ payment: Payment) -> Bool {
        guard payment.recovery != nil else { return false }
        return payment.legs.contains { leg in
            guard let quarantine = leg.quarantine else { return !leg.capturedAmount.isZero }
            return quarantine.cause == .captureRequestLost || leg.knowledge?.status == .captured
        }
    }

    /// Other legs go on beside a quarantined one, as far as the latch lets them.
    private static func isDone(_ leg: Leg, _ payment: Payment, _ evidence: Evidence) -> Bool {
        switch payment.latch {
        case .none: isProofWithPeople(payment) || isHeldForItsCaller(leg, payment, evidence)
        case .forward: leg.gone != nil || leg.capturedAmount == SucceededMeansAsked.asked(of: leg, payment)
        case .back, .compensate: leg.gone != nil
        }
    }
}
