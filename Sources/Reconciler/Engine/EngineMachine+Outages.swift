internal import PaymentCore

/// Providers that could not be reached, and what their return makes possible.
///
/// While a provider is away, what waits for it is looked at ever less often. Its first answer after that says that the
/// silence is over: what waits is taken up then, in the order in which it would be due, and no faster than the places
/// that the sweep has for this provider become free.
///
/// A process that has just begun does not know who was away: the first answer of each provider counts as a return
/// (seed 1633349299: whoever knew of the outage was restarted, and a payment waited for a week).
extension EngineMachine {
    struct Outages {
        /// So many failures in a row make an outage, and so does silence of this length: where there is little to
        /// settle, few are made in an hour.
        static let least = 3
        static let shortest = Span.seconds(5)

        var failures: [ProviderName: Failures] = [:]
        /// Providers that answered this process once.
        var heard: Set<ProviderName> = []
        /// Providers that answer again, and how far what waits for them was claimed.
        var returned: [ProviderName: Pass] = [:]
        var isClaiming: Set<ProviderName> = []
    }

    /// What waits for a provider is taken up once after its return.
    struct Pass {
        var cursor: WaitingRequest.Cursor?
        /// What was taken up. A payment that has still to wait comes again, later in order than before (seed
        /// 1638171722: ten payments were claimed in turn for ever).
        var seen: Set<PaymentID> = []
    }

    /// Failures in a row.
    struct Failures {
        var count = 0
        var since: Timestamp

        func isOutage(at now: Timestamp) -> Bool {
            count >= Outages.least || now - since >= Outages.shortest
        }
    }

    private enum Reach {
        case reached
        case notReached
        case unknown
    }

    /// Takes in what an attempt or an inquiry says of its provider.
    mutating func noticeOutage(_ id: PaymentID, _ event: PaymentEvent) {
        let (leg, reach) = EngineMachine.reach(event)
        guard let legs = runners[id]?.payment.legs, let leg, legs.indices.contains(leg) else { return }
        let provider = legs[leg].provider
        switch reach {
        case .unknown: break
        case .notReached:
            var failures = outages.failures[provider] ?? Failures(since: moment.now)
            failures.count += 1
            outages.failures[provider] = failures
            // It is away again: what was not claimed yet waits for its next return.
            guard failures.isOutage(at: moment.now) else { return }
            outages.returned.removeValue(forKey: provider)
        case .reached:
            let isFirst = outages.heard.insert(provider).inserted
            let failures = outages.failures.removeValue(forKey: provider)
            let wasAway = failures?.isOutage(at: moment.now) ?? false
            guard isFirst || wasAway, settings.sweeps, !rules.breaks(.returnNotNoticed) else { return }
            if wasAway { jobs.append(.note(.providerReturned(provider, failures: failures?.count ?? 0))) }
            outages.returned[provider] = Pass()
            claimWaiting()
        }
    }

    private static func reach(_ event: PaymentEvent) -> (leg: Int?, Reach) {
        let ours: Set<String> = [
            "site_not_active", "provider_not_configured", "expired", "no_token", "no_reference",
        ]
        switch event {
        case .attempted(let leg, _, _, let report):
            switch report.outcome {
            case .unsent: return (leg, ours.contains(report.code) ? .unknown : .notReached)
            case .accepted, .declined, .refused: return (leg, .reached)
            case .throttled, .indeterminate: return (leg, .unknown)
            }
        case .inquired(let leg, let observation):
            guard observation.status == .unavailable else { return (leg, .reached) }
            return (leg, ours.contains(observation.reason ?? "") ? .unknown : .notReached)
        default: return (nil, .unknown)
        }
    }

    /// Claims what waits for providers that answer again, as far as they have places.
    mutating func claimWaiting() {
        guard !outages.returned.isEmpty, mayBegin, !isStopped else { return }
        for (provider, pass) in outages.returned.sorted(by: { $0.key < $1.key })
        where !outages.isClaiming.contains(provider) {
            let room = sweep.roomForWaiting(at: provider)
            guard room > 0 else { continue }
            outages.isClaiming.insert(provider)
            jobs.append(
                .claimWaiting(
                    WaitingRequest(
                        provider: provider, holder: settings.holder, limit: room, leaseFor: settings.sweep.lease,
                        after: pass.cursor)))
        }
    }

    mutating func claimedWaiting(_ request: WaitingRequest, _ result: Result<[ClaimedPayment], StoreFailure>) {
        let provider = request.provider
        outages.isClaiming.remove(provider)
        guard case .success(let claimed) = result else {
            // The schedule goes on without it.
            outages.returned.removeValue(forKey: provider)
            return
        }
        let seen = rules.breaks(.returnHasNoEnd) ? [] : outages.returned[provider]?.seen ?? []
        for payment in claimed where seen.contains(payment.payment.id) { release(payment.payment.id, payment.token) }
        let fresh = claimed.filter { !seen.contains($0.payment.id) }
        if claimed.count < request.limit {
            outages.returned.removeValue(forKey: provider)
        } else if outages.returned[provider] != nil {
            outages.returned[provider]?.seen.formUnion(fresh.map(\.payment.id))
            if let last = claimed.last, let dueAt = last.payment.dueAt {
                outages.returned[provider]?.cursor = WaitingRequest.Cursor(dueAt: dueAt, id: last.payment.id)
            }
        }
        sweep.claimedWaiting(fresh.map(\.payment.id), at: provider)
        for payment in fresh { begin(payment, [.providerReturned(provider)]) }
        claimWaiting()
    }
}
