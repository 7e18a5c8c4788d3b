public import PaymentCore

/// Invariant 4. A caller's key stands for one request and has one settled answer.
///
/// Where acknowledged rows may be lost, what was asked under a key may be lost with them; but nobody is told
/// both that a payment succeeded and that it did not.
public struct OneFinalAnswer: Invariant {
    /// Its number in the protocol.
    public static let number = 4
    /// What holds.
    public static let sentence = "one (caller, key) has one final answer; another body is refused"
    /// What did not.
    public private(set) var findings = Findings(number)

    private struct History {
        /// Every different request under the key, in order.
        var asked: [CallerOperation.Kind] = []
        /// The request that was taken.
        var taken: CallerOperation.Kind?
        /// Requests that were told that the key stands for another.
        var turnedAway: [CallerOperation.Kind] = []
        /// The first settled answer.
        var answer: CallerAnswer?
        /// What was settled before rows were lost.
        var earlier: CallerAnswer?
        /// Requests under the key that were not answered yet.
        var open = 0
        /// Those among them that were asked before it was settled: they may still be told that it goes on,
        /// which is no final answer.
        var overlapping = 0
    }

    private var histories: [CallerKey: History] = [:]

    /// The invariant.
    public init() {}

    /// Notes what is asked.
    public mutating func asked(_ operation: CallerOperation, at: Timestamp, _ evidence: Evidence) {
        let key = CallerKey(operation)
        histories[key, default: History()].open += 1
        guard histories[key]?.asked.contains(operation.kind) != true else { return }
        histories[key, default: History()].asked.append(operation.kind)
    }

    /// Judges an answer.
    public mutating func answered(
        _ operation: CallerOperation, _ answer: CallerAnswer, at: Timestamp, _ evidence: Evidence
    ) {
        let key = CallerKey(operation)
        var history = histories[key] ?? History()
        history.open = max(0, history.open - 1)
        judge(operation, answer, &history, at, evidence)
        histories[key] = history
    }

    /// Judges a change of the active site.
    public mutating func promoted(
        site: Int, epoch: Int64, rowsLost: Int, at: Timestamp, _ evidence: Evidence
    ) {
        guard rowsLost > 0, !evidence.keepsAcknowledgedRows else { return }
        histories = histories.mapValues { history in
            // A request of before may still be under way, at a process that stands still (seed 1566339791).
            History(asked: history.asked, earlier: history.answer ?? history.earlier, open: history.open)
        }
    }

    private mutating func judge(
        _ operation: CallerOperation, _ answer: CallerAnswer, _ history: inout History, _ at: Timestamp,
        _ evidence: Evidence
    ) {
        let kind = operation.kind
        let payment = operation.payment
        switch answer {
        case .keyReused:
            findings.require(
                history.asked.contains { $0 != kind }, at, payment,
                "key \(operation.key) was called used for another request, and there was none")
            findings.require(
                history.taken != kind, at, payment,
                "key \(operation.key) was denied to the request that has it")
            if !history.turnedAway.contains(kind) { history.turnedAway.append(kind) }
        case .accepted, .settled:
            findings.require(
                history.taken == nil || history.taken == kind, at, payment,
                "key \(operation.key) was given to two different requests")
            findings.require(
                !history.turnedAway.contains(kind), at, payment,
                "key \(operation.key) was given to a request that it was denied to before")
            history.taken = history.taken ?? kind
        case .refused, .unavailable: break
        }
        if let first = history.answer {
            // Another request under the key is told so; the one that has it is told the same for ever.
            if case .accepted = answer, history.overlapping > 0 {
                history.overlapping -= 1
            } else if history.taken == kind, answer != .unavailable {
                findings.require(
                    answer == first, at, payment, "key \(operation.key) was answered \(first), then \(answer)"
                )
            }
        } else if case .settled = answer {
            if let earlier = history.earlier {
                findings.require(
                    !OneFinalAnswer.contradicts(earlier, answer) || evidence.isForgotten(payment), at, payment,
                    "key \(operation.key) was answered \(earlier), and after rows were lost \(answer)")
            }
            history.answer = answer
            history.overlapping = history.open
        }
    }

    private static func contradicts(_ first: CallerAnswer, _ second: CallerAnswer) -> Bool {
        guard case .settled(let before, let refundBefore) = first,
            case .settled(let after, let refundAfter) = second
        else { return false }
        if refundBefore == .succeeded, refundAfter == .failed { return true }
        guard before.isFinal, after.isFinal else { return false }
        return (before == .succeeded) != (after == .succeeded)
    }
}
