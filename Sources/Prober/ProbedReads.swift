internal import PaymentCore
internal import Reconciler

/// Inquiries and the listing: whether they show what happened, and how late.
struct ProbedReads: Sendable {
    let bench: ProbeBench

    func look(_ sights: inout ProbeSights) async throws(ProbeFailure) {
        var lags: [Span] = []
        var unseen = 0
        for round in 1...max(1, bench.settings.rounds) {
            let transaction = try bench.transaction(ProbeNames.read(round))
            let report = try await bench.send(bench.begins, transaction)
            guard report.outcome == .accepted else {
                sights.notes.append("\(transaction.name): the amount was not taken: \(Self.words(report))")
                continue
            }
            let answered = bench.clock.now()
            let watch = try await bench.watch(transaction) { Self.shows($0, bench.settings.amount) }
            if round == 1 { try await first(transaction, report, watch, answered, &sights) }
            guard watch.isShown else {
                unseen += 1
                continue
            }
            lags.append(watch.lag)
            let change = try await second(transaction)
            if let change, change.isShown { lags.append(change.lag) } else if change != nil { unseen += 1 }
        }
        await conclude(lags, unseen, &sights)
    }

    /// What the first transaction shows.
    private func first(
        _ transaction: ProbedTransaction, _ report: AttemptReport, _ watch: ProbeBench.Watch, _ answered: Timestamp,
        _ sights: inout ProbeSights
    ) async throws(ProbeFailure) {
        let contract = bench.provider.contract
        if watch.isShown {
            sights.add(
                .inquiry, .exactly(.word(ProviderContract.Inquiry.byOwnKey.rawValue)),
                "an inquiry under our key shows the transaction")
            let phases: ProviderContract.Phases = watch.last.status == .captured ? .sale : .authorizeCapture
            sights.add(.phases, .exactly(.word(phases.rawValue)), "it was shown as \(watch.last.status.rawValue)")
            if watch.last.key == transaction.key {
                sights.add(
                    .keyFormat, .exactly(.word(contract.keyFormat.rawValue)), "the key is shown as it was sent")
            }
            let end = watch.last.authorizedUntil ?? report.observation?.authorizedUntil
            if let end, watch.last.status == .authorized {
                sights.add(
                    .authorizationLife,
                    .exactly(.span(Self.rounded(end - answered - (bench.reading()?.offset ?? .zero)))),
                    "a hold lasts until \(end.rfc3339)")
            }
        }
        let isListed = try await list(transaction, answered, &sights)
        guard !watch.isShown else { return }
        let listed = PropertyValue.word(ProviderContract.Inquiry.byListing.rawValue)
        let nothing = PropertyValue.word(ProviderContract.Inquiry.none.rawValue)
        sights.add(
            .inquiry, isListed.map { .exactly($0 ? listed : nothing) } ?? .atMost(listed),
            "no inquiry showed the transaction in \(bench.settings.patience.milliseconds) ms "
                + "(\(watch.last.status.rawValue)\(watch.last.reason.map { ", \($0)" } ?? ""))")
    }

    /// Gives a part back, or releases the hold, and watches that too; `nil` if it was not done.
    private func second(_ transaction: ProbedTransaction) async throws(ProbeFailure) -> ProbeBench.Watch? {
        guard bench.begins == .sale else {
            guard try await bench.send(.void, transaction).outcome == .accepted else { return nil }
            return try await bench.watch(transaction) { UndoneProbe.holdsNothing($0) && $0.status != .notFound }
        }
        let details = ProbeBench.Details(amount: bench.part(2), operation: "read")
        guard try await bench.send(.refund, transaction, details).outcome == .accepted else { return nil }
        return try await bench.watch(transaction) { $0.refunds.contains { $0.state == .succeeded } }
    }

    private func conclude(_ lags: [Span], _ unseen: Int, _ sights: inout ProbeSights) async {
        guard unseen == 0 else {
            await bench.missed()
            sights.add(
                .visibilityLag, .atMost(.span(bench.settings.patience)),
                "\(unseen) of \(lags.count + unseen) changes were not shown in "
                    + "\(bench.settings.patience.milliseconds) ms")
            return
        }
        guard let worst = lags.max() else { return }
        sights.add(
            .visibilityLag, .atMost(.span(worst)),
            worst == .zero
                ? "each of \(lags.count) changes was shown by the first read after it"
                : "of \(lags.count) changes the latest was shown \(worst.milliseconds) ms after its answer")
    }

    // MARK: The listing

    /// Whether the listing shows it, within the patience; `nil` if it was never answered.
    private func list(
        _ transaction: ProbedTransaction, _ answered: Timestamp, _ sights: inout ProbeSights
    ) async throws(ProbeFailure) -> Bool? {
        guard let listing = bench.provider.listing else {
            sights.add(.listing, .nothing("none is configured"))
            return false
        }
        let now = bench.providersNow
        guard let window = ComparedWindow(from: now + .hours(-1), to: now + .hours(1)) else { return false }
        let began = bench.clock.now()
        var failure: String?
        while true {
            do {
                let isShown = try await shows(transaction.key, listing, window)
                failure = nil
                if isShown {
                    let lag = bench.clock.now() - answered
                    sights.add(
                        .listing, .exactly(.flag(true)),
                        "the listing showed the transaction within \(lag.milliseconds) ms of its answer")
                    return true
                }
            } catch  where error.kind != .passing {
                sights.add(.listing, .exactly(.flag(false)), "the listing cannot be read: \(error.code)")
                return false
            } catch {
                failure = error.code
            }
            guard bench.clock.now() - began < bench.settings.patience else { break }
            try await bench.sleep(bench.settings.readEvery)
        }
        if let failure {
            sights.add(.listing, .nothing("the listing was not answered: \(failure)"))
            return nil
        }
        sights.add(
            .listing, .exactly(.flag(false)),
            "the listing did not show the transaction in \(bench.settings.patience.milliseconds) ms")
        return false
    }

    private func shows(
        _ key: EffectKey, _ listing: any ListingProvider, _ window: ComparedWindow
    ) async throws(ListingFailure) -> Bool {
        var cursor: String?
        repeat {
            await bench.count(1)
            let page = try await listing.list(ListingOrder(window: window, cursor: cursor))
            if page.positions.contains(where: { $0.key == key }) { return true }
            cursor = page.next
        } while cursor != nil
        return false
    }

    // MARK: Words and measures

    static func shows(_ observation: Observation, _ amount: Money) -> Bool {
        [.authorized, .captured, .pending].contains(observation.status) && observation.amount == amount
    }

    /// How an answer is named in evidence.
    static func words(_ report: AttemptReport) -> String { "\(report.outcome.name) (\(report.code))" }

    /// An answer takes a while, so lengths are given in whole minutes, and short ones in whole seconds.
    private static func rounded(_ span: Span) -> Span {
        let unit: Int64 = span > .minutes(10) ? 60_000 : 1_000
        return .milliseconds((span.milliseconds + unit / 2) / unit * unit)
    }
}
