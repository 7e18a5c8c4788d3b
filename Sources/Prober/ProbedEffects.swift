internal import PaymentCore
internal import Reconciler

/// Whether a request that names a moment is executed after it.
struct ProbedNotAfter: Sendable {
    let bench: ProbeBench

    func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        // One request may be lost on its way.
        for round in 1...max(1, bench.settings.rounds) {
            let transaction = try bench.transaction(ProbeNames.late(round))
            // By the provider's own clock, however far it is off.
            let moment = bench.providersNow + .hours(-1)
            let late = try await bench.send(bench.begins, transaction, ProbeBench.Details(notAfter: moment))
            let isShown = try await bench.holdsMoneySoon(transaction)
            let isExecuted = isShown || late.outcome == .accepted
            let words =
                "a request whose time was over an hour ago was answered \(ProbedReads.words(late)), and took "
                + (isExecuted ? "the amount" : "nothing")
            sights.add(.enforcesNotAfter, .exactly(.flag(!isExecuted)), words)
            guard !isExecuted else { return }
        }
        // Somebody may refuse every request that names a moment.
        let other = try bench.transaction(ProbeNames.onTime)
        let onTime = try await bench.send(
            bench.begins, other, ProbeBench.Details(notAfter: bench.providersNow + .hours(1)))
        let more = "one that had an hour left was answered \(ProbedReads.words(onTime))"
        guard onTime.outcome == .accepted else {
            sights.add(.enforcesNotAfter, .nothing("no request that named a moment was executed"), more)
            return
        }
        sights.add(.enforcesNotAfter, .exactly(.flag(true)), more)
    }
}

/// How refunds are shown.
struct ProbedRefunds: Sendable {
    let bench: ProbeBench

    func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        let transaction = try bench.transaction(ProbeNames.refunds)
        guard try await isTaken(transaction) else {
            sights.add(.refundVisibility, .nothing("the amount was not taken"))
            return
        }
        let part = bench.part(4)
        var answers: [String] = []
        for operation in ["first", "second"] {
            let details = ProbeBench.Details(amount: part, operation: operation)
            let report = try await bench.send(.refund, transaction, details)
            answers.append(ProbedReads.words(report))
            // An answer that shows no refund under our key is in doubt to the adapter. The reads tell what it did.
            guard report.outcome == .accepted || report.outcome == .indeterminate else {
                sights.add(.refundVisibility, .nothing("a refund was answered \(ProbedReads.words(report))"))
                return
            }
        }
        let keys = [
            try bench.refundKey(transaction, "first"), try bench.refundKey(transaction, "second"),
        ]
        let watch = try await bench.watch(transaction) { shown in
            keys.allSatisfy { key in shown.refunds.contains { $0.key == key && $0.state == .succeeded } }
        }
        let sum = Self.sum(watch.last)
        if watch.isShown {
            sights.add(
                .refundVisibility, .exactly(.word(ProviderContract.RefundVisibility.byKey.rawValue)),
                "two refunds of the same amount are shown under a key each")
        } else if sum == 2 * part.value {
            sights.add(
                .refundVisibility, .exactly(.word(ProviderContract.RefundVisibility.sumsOnly.rawValue)),
                "of two refunds, answered \(answers.joined(separator: " and ")), only the sum is shown")
        } else {
            sights.add(
                .refundVisibility,
                .nothing(
                    "of two refunds of \(part), answered \(answers.joined(separator: " and ")), no read shows more "
                        + "than \(sum)"))
            return
        }
        try await again(transaction, part, &sights)
    }

    /// The same refund once more must give nothing more.
    private func again(
        _ transaction: ProbedTransaction, _ part: Money, _ sights: inout ProbeSights
    ) async throws(ProbeFailure) {
        let details = ProbeBench.Details(amount: part, operation: "first")
        let report = try await bench.send(.refund, transaction, details)
        try await bench.sleep(min(bench.settings.patience, bench.provider.contract.visibilityLag))
        let watch = try await bench.watch(transaction) { Self.sum($0) == 2 * part.value }
        let words = "the same refund once more was answered \(ProbedReads.words(report))"
        guard watch.isShown else {
            sights.add(.keyRetention, .atMost(.span(.zero)), words + ", and gave back again")
            return
        }
        sights.notes.append(words + ", and gave nothing back")
    }

    private static func sum(_ observation: Observation) -> Int64 {
        observation.refunds.filter { $0.state == .succeeded }.reduce(0) { $0 + $1.amount.value }
    }

    private func isTaken(_ transaction: ProbedTransaction) async throws(ProbeFailure) -> Bool {
        guard try await bench.send(bench.begins, transaction).outcome == .accepted else { return false }
        if bench.begins == .authorize {
            guard try await bench.send(.capture, transaction).outcome == .accepted else { return false }
        }
        return try await bench.watch(transaction) { $0.status == .captured }.isShown
    }
}

/// Whether a decline is bound to its key.
struct ProbedDeclines: Sendable {
    /// So often the same request is sent.
    private static let times = 3

    let bench: ProbeBench

    func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        guard let instrument = bench.settings.declinedInstrument else {
            sights.add(.declinesBound, .nothing("no instrument was named that is declined"))
            return
        }
        let transaction = try bench.transaction(ProbeNames.declined)
        let details = ProbeBench.Details(instrument: instrument)
        for time in 1...Self.times {
            let report = try await bench.send(bench.begins, transaction, details)
            guard report.outcome != .accepted else {
                guard time > 1 else {
                    sights.add(.declinesBound, .nothing("the instrument that should be declined was not"))
                    return
                }
                sights.add(
                    .declinesBound, .exactly(.flag(false)),
                    "the same request was declined, and the \(time)\(time == 2 ? "nd" : "rd") time accepted")
                return
            }
            guard report.outcome == .declined else {
                sights.add(.declinesBound, .nothing("the request was answered \(ProbedReads.words(report))"))
                return
            }
        }
        try await approved(transaction, &sights)
    }

    /// The same key with an instrument that is approved.
    private func approved(
        _ transaction: ProbedTransaction, _ sights: inout ProbeSights
    ) async throws(ProbeFailure) {
        let report = try await bench.send(bench.begins, transaction)
        let same = "the same request was declined \(Self.times) times"
        let words = "an instrument that is approved was answered \(ProbedReads.words(report)) under the same key"
        switch report.outcome {
        case .accepted: sights.add(.declinesBound, .exactly(.flag(false)), same, words)
        // A decline that is repeated now, or a key that refuses another body, says nothing about tomorrow.
        default:
            sights.add(.declinesBound, .nothing("no request shows whether it would be declined for ever"), same, words)
        }
    }
}
