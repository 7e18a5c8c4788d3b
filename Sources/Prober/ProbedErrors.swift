internal import PaymentCore
internal import Reconciler

/// What an answer with an error leaves behind: money, or a key that is used up.
///
/// Nobody can make a provider fail on purpose. So it sends what must be refused: an instrument that nobody knows, more
/// than is held, more than was taken. After each it reads, and sends the right request under the same key, if the first
/// one provably did nothing. No request asks for more than half of the amount and one unit.
struct ProbedErrors: Sendable {
    let bench: ProbeBench

    func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        try await unknownInstrument(&sights)
        let transaction = try bench.transaction(ProbeNames.errors)
        let half = ProbeBench.Details(amount: bench.part(2))
        let begun = try await bench.send(bench.begins, transaction, half)
        guard begun.outcome == .accepted else {
            sights.notes.append("\(transaction.name): half of the amount was not taken: \(ProbedReads.words(begun))")
            return
        }
        _ = try await bench.watch(transaction) { ProbedReads.shows($0, bench.part(2)) }
        if bench.begins == .authorize {
            try await tooMuch(.capture, of: transaction, &sights) { $0.status == .captured ? Self.taken($0) : 0 }
            if await bench.read(transaction).status == .authorized {
                _ = try await bench.send(.capture, transaction, half)
            }
        }
        guard try await bench.watch(transaction, until: { $0.status == .captured }).isShown else { return }
        try await tooMuch(.refund, of: transaction, &sights) { Self.givenBack($0) }
    }

    /// A first request that names an instrument which nobody knows.
    private func unknownInstrument(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        guard let unknown = bench.settings.unknownInstrument else { return }
        let transaction = try bench.transaction(ProbeNames.unknown)
        let wrong = ProbeBench.Details(amount: bench.part(2), instrument: unknown)
        let report = try await bench.send(bench.begins, transaction, wrong)
        let isThere = try await bench.holdsMoneySoon(transaction)
        var words =
            "a request with an unknown instrument was answered \(ProbedReads.words(report)), and took "
            + (isThere ? "the amount" : "nothing")
        if !isThere, report.isProofOfNothing {
            let right = try await bench.send(bench.begins, transaction, ProbeBench.Details(amount: bench.part(2)))
            words += "; the right request under the same key then was answered \(ProbedReads.words(right))"
        }
        sights.notes.append(words)
    }

    /// A capture or a refund of one unit more than there is, and then the right one under the same key.
    ///
    /// - Parameter moved: how much of it a read shows.
    private func tooMuch(
        _ kind: EffectKind, of transaction: ProbedTransaction, _ sights: inout ProbeSights,
        moved: @Sendable (Observation) -> Int64
    ) async throws(ProbeFailure) {
        let half = bench.part(2)
        let more = ProbeBench.Details(amount: .of(half.value + 1, half.currency), operation: ProbeNames.errors)
        let report = try await bench.send(kind, transaction, more)
        try await bench.waitForReads()
        let seen = moved(await bench.read(transaction))
        var words = "a \(kind) of more than there is was answered \(ProbedReads.words(report)), and moved \(seen)"
        // What may still be executed is not sent again, with whatever amount.
        guard seen == 0, report.isProofOfNothing else {
            sights.notes.append(words)
            if report.isProofOfNothing { await bench.breached(words) }
            return
        }
        let right = ProbeBench.Details(amount: half, operation: ProbeNames.errors)
        let next = try await bench.send(kind, transaction, right)
        try await bench.waitForReads()
        let movedThen = moved(await bench.read(transaction))
        words += "; the right one under the same key then was answered \(ProbedReads.words(next))"
        words += ", and moved \(movedThen)"
        if next.isProofOfNothing, movedThen > 0 { await bench.breached(words) }
        sights.notes.append(words)
    }

    private static func taken(_ observation: Observation) -> Int64 {
        observation.captures.filter { $0.state == .succeeded }.reduce(0) { $0 + $1.amount.value }
    }

    private static func givenBack(_ observation: Observation) -> Int64 {
        observation.refunds.filter { $0.state == .succeeded }.reduce(0) { $0 + $1.amount.value }
    }
}

extension AttemptReport {
    /// Whether the table of answers says of it that nothing was executed.
    var isProofOfNothing: Bool { outcome == .refused || outcome == .declined }
}
