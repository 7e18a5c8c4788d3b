internal import PaymentCore

/// Cancels under our own key.
struct ProbedCancels: Sendable {
    let bench: ProbeBench

    func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        let keepsAway = try await keepsAway(bench.transaction(ProbeNames.absent), &sights)
        let isDone = try await cancelsWhatIsThere(&sights)
        let word: (ProviderContract.Cancel) -> PropertyValue = { .word($0.rawValue) }
        switch (keepsAway, isDone) {
        case (nil, _): sights.add(.cancel, .nothing("the request after the cancel was not plainly answered"))
        // What is refused in any case says nothing about the cancel before it.
        case (true?, nil): sights.add(.cancel, .nothing("no request without a cancel before it took the amount"))
        case (true?, _): sights.add(.cancel, .exactly(word(.tombstoning)))
        case (false?, true?): sights.add(.cancel, .exactly(word(.onlyIfPresent)))
        // A completed sale cannot be cancelled, and one that is under way cannot be had on purpose.
        case (false?, false?) where bench.begins == .sale: sights.add(.cancel, .atMost(word(.onlyIfPresent)))
        case (false?, nil): sights.add(.cancel, .atMost(word(.onlyIfPresent)))
        case (false?, false?): sights.add(.cancel, .exactly(word(.none)))
        }
        if bench.settings.wait > .zero { _ = try await bench.send(.void, bench.transaction(ProbeNames.keptAbsent)) }
    }

    /// Whether a tombstone lasts.
    func lookAgain(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        let tombstone = PropertyValue.word(ProviderContract.Cancel.tombstoning.rawValue)
        guard sights.findings[.cancel]?.sight == .exactly(tombstone) else { return }
        let transaction = try bench.transaction(ProbeNames.keptAbsent)
        let report = try await bench.send(bench.begins, transaction)
        let waited =
            "\(bench.settings.wait.milliseconds) ms after a cancel of nothing a request under the key was "
            + "answered \(ProbedReads.words(report))"
        let isShown = try await bench.holdsMoneySoon(transaction)
        if isShown || report.outcome == .accepted {
            sights.add(
                .cancel, .exactly(.word(ProviderContract.Cancel.onlyIfPresent.rawValue)),
                waited + ", and took the amount")
        } else if report.isPlain {
            sights.add(.cancel, .exactly(tombstone), waited + ", and took nothing")
        } else {
            sights.add(.cancel, .nothing("the request after the wait was not plainly answered"), waited)
        }
    }

    /// Whether a cancel of nothing keeps away what comes after it; `nil` if that cannot be said.
    private func keepsAway(
        _ transaction: ProbedTransaction, _ sights: inout ProbeSights
    ) async throws(ProbeFailure) -> Bool? {
        let cancel = try await bench.send(.void, transaction)
        let report = try await bench.send(bench.begins, transaction)
        let isShown = try await bench.holdsMoneySoon(transaction)
        let isThere = isShown || report.outcome == .accepted
        let words =
            "a cancel of nothing was answered \(ProbedReads.words(cancel)); a request under the same key then "
            + "was answered \(ProbedReads.words(report)), and took \(isThere ? "the amount" : "nothing")"
        sights.add(.cancel, .nothing("not concluded"), words)
        guard !isThere else { return false }
        return report.isPlain ? true : nil
    }

    /// Whether a cancel gives back what is there; `nil` if that cannot be said.
    private func cancelsWhatIsThere(_ sights: inout ProbeSights) async throws(ProbeFailure) -> Bool? {
        let transaction = try bench.transaction(ProbeNames.present)
        let taken = try await bench.send(bench.begins, transaction)
        let isTaken = try await bench.watch(transaction) { ProbedReads.shows($0, bench.settings.amount) }.isShown
        guard taken.outcome == .accepted, isTaken else {
            sights.notes.append("\(transaction.name): the amount was not taken: \(ProbedReads.words(taken))")
            return nil
        }
        let cancel = try await bench.send(.void, transaction)
        let isGone = try await bench.watch(transaction) { $0.status == .voided }.isShown
        let words =
            "a cancel of what is there was answered \(ProbedReads.words(cancel)), and "
            + (isGone ? "gave it back" : "changed nothing")
        sights.add(.cancel, .nothing("not concluded"), words)
        guard isGone || cancel.isPlain else { return nil }
        if bench.begins == .sale { sights.add(.cancelReversesSale, .exactly(.flag(isGone)), words) }
        return isGone
    }
}
