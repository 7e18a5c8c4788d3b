internal import PaymentCore
internal import Reconciler

/// A second request under a key that was used.
///
/// What was taken is given back before the key is used again. So at most one amount is out at a time under one key,
/// and a second execution is seen: it holds money, and the first does not any more.
struct ProbedKeys: Sendable {
    let bench: ProbeBench
    /// When the key was used first.
    private var first: Timestamp?

    init(bench: ProbeBench) { self.bench = bench }

    mutating func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        let transaction = try bench.transaction(ProbeNames.keys)
        let began = bench.clock.now()
        first = began
        guard try await isUndone(transaction, &sights) else { return }
        try await again(transaction, began, remembered: .zero, &sights)
        try await otherBody(&sights)
    }

    /// The same after a while.
    func lookAgain(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        let transaction = try bench.transaction(ProbeNames.keys)
        // It was executed anew at once: there is nothing to wait for.
        guard case .atLeast(.span(let remembered?))? = sights.findings[.keyRetention]?.sight, let first else { return }
        let waited = bench.settings.wait
        let known = await bench.read(transaction)
        if known.status == .notFound {
            sights.add(
                .statusRetention, .atMost(.span(waited)), "after \(waited.milliseconds) ms no inquiry knows the key")
        } else if known.status != .unavailable {
            sights.add(
                .statusRetention, .atLeast(.span(waited)), "after \(waited.milliseconds) ms an inquiry shows the key")
        }
        try await again(transaction, first, remembered: remembered, &sights)
    }

    /// Takes the amount and gives it back; whether reads show that.
    private func isUndone(
        _ transaction: ProbedTransaction, _ sights: inout ProbeSights
    ) async throws(ProbeFailure) -> Bool {
        let report = try await bench.send(bench.begins, transaction)
        guard report.outcome == .accepted else {
            sights.add(.keyRetention, .nothing("the amount was not taken: \(ProbedReads.words(report))"))
            return false
        }
        _ = try await bench.watch(transaction) { ProbedReads.shows($0, bench.settings.amount) }
        let kind: EffectKind = bench.begins == .sale ? .refund : .void
        let back = try await bench.send(kind, transaction, ProbeBench.Details(operation: "keys"))
        let watch = try await bench.watch(transaction) { UndoneProbe.holdsNothing($0) && $0.status != .notFound }
        guard watch.isShown else {
            sights.add(.keyRetention, .nothing("the amount was not given back: \(ProbedReads.words(back))"))
            return false
        }
        return true
    }

    /// Sends the first request once more, which is byte for byte the same.
    private func again(
        _ transaction: ProbedTransaction, _ began: Timestamp, remembered: Span, _ sights: inout ProbeSights
    ) async throws(ProbeFailure) {
        let age = bench.clock.now() - began
        let report = try await bench.send(bench.begins, transaction)
        let isNew = try await bench.holdsMoneySoon(transaction)
        let words = "the same request \(age.milliseconds) ms after the first was answered \(ProbedReads.words(report))"
        if isNew {
            sights.add(.keyRetention, .atMost(.span(remembered)), words + ", and took the amount again")
        } else if report.isPlain {
            sights.add(.keyRetention, .atLeast(.span(age)), words + ", and took nothing")
        } else {
            sights.add(.keyRetention, .nothing("the second request was not plainly answered"), words)
        }
    }

    /// The same key with a smaller amount.
    private func otherBody(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        let transaction = try bench.transaction(ProbeNames.otherBody)
        guard try await bench.send(bench.begins, transaction).outcome == .accepted else { return }
        _ = try await bench.watch(transaction) { ProbedReads.shows($0, bench.settings.amount) }
        let smaller = bench.part(2)
        let report = try await bench.send(bench.begins, transaction, ProbeBench.Details(amount: smaller))
        let watch = try await bench.watch(transaction) { $0.amount == bench.settings.amount }
        guard watch.isShown else {
            sights.add(
                .keyRetention, .atMost(.span(.zero)), "another amount under the same key took the place of the first")
            return
        }
        sights.notes.append(
            "another amount under the same key was answered \(ProbedReads.words(report)), and changed nothing")
    }
}

extension AttemptReport {
    /// Whether the provider plainly answered: it did what was asked, had done it, or said that it does not.
    ///
    /// A decline says nothing of the kind: the payer may have a reason of their own.
    var isPlain: Bool { outcome == .accepted || outcome == .refused || keyConflicts }
}

extension ProbeBench {
    /// Whether money is held or taken, once reads had the time to show it.
    func holdsMoneySoon(_ transaction: ProbedTransaction) async throws(ProbeFailure) -> Bool {
        try await waitForReads()
        let watch = try await watch(transaction) { UndoneProbe.holdsNothing($0) }
        return !watch.isShown
    }
}
