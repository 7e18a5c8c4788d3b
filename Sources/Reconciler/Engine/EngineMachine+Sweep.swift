internal import PaymentCore

/// Looking for what is due, and keeping leases.
extension EngineMachine {
    /// A look for what is due, step by step.
    struct Look {
        /// A question to the store is under way.
        var isUnderWay = false
        /// It asks the store for leases.
        var isClaiming = false
        /// Somebody said since it began that something may be due.
        var isWantedAgain = false
        /// The pause that follows it.
        var pause = Span.zero

        static let none = Look()
    }

    private var mayLook: Bool { mayBegin && settings.sweeps && !isStopped }

    mutating func lookForDue() {
        guard mayLook else { return waitForRightToAct() }
        reviewResting()
        guard !look.isUnderWay else {
            look.isWantedAgain = true
            return
        }
        sweep.woke()
        look.isUnderWay = true
        continueLook()
    }

    private mutating func continueLook() {
        guard mayLook else {
            look = .none
            return waitForRightToAct()
        }
        switch sweep.next() {
        case .claim(let request):
            look.isClaiming = true
            jobs.append(.claimDue(request))
        case .pause(let longest):
            look.pause = longest
            jobs.append(.askNextDue(sweep.scope))
        }
    }

    /// Who gets the right to act is told, and looks then. But a right that ran out for a moment comes back untold: its
    /// renewal was late, or the process stood still (seeds 1536128067, 3693566435).
    private mutating func waitForRightToAct() {
        guard term != nil, settings.sweeps, !isDraining, !isStopped else { return }
        arm(at: moment.now + settings.sweep.longestPause)
    }

    mutating func claimedDue(_ request: ClaimRequest, _ result: Result<[ClaimedPayment], StoreFailure>) {
        look.isClaiming = false
        switch result {
        case .success(let claimed):
            sweep.claimed(claimed.map { ($0.payment.id, $0.payment.dueProvider) }, asked: request)
            jobs.append(.note(.swept(claimed.count)))
            for payment in claimed { begin(payment, isDue: true) }
            if rules.breaks(.sweepStopsWhenIdle), claimed.isEmpty {
                look = .none
                return
            }
        case .failure: sweep.claimFailed()
        }
        continueLook()
    }

    mutating func nextDue(_ result: Result<Timestamp?, StoreFailure>) {
        let latest = moment.now + look.pause
        let isWantedAgain = look.isWantedAgain
        look = .none
        switch result {
        // What is due already found no place; it is looked for again when one is free, or after the pause.
        case .success(let due?) where due > moment.now: arm(at: min(latest, due))
        case .success(_?) where rules.breaks(.pauseForgotten): break
        case .success, .failure: arm(at: latest)
        }
        if isWantedAgain { lookForDue() }
    }

    /// Sees to it that the sweep looks again at `moment` or before. There is one timer that counts; later ones that
    /// were armed before it find that it is not theirs any more.
    mutating func arm(at moment: Timestamp) {
        // One that has passed is about to fire, and is not to be put off.
        if let armed, armed <= moment { return }
        armed = moment
        jobs.append(.wake(at: moment))
    }

    mutating func woke(_ moment: Timestamp) {
        guard armed == moment else { return }
        armed = nil
        lookForDue()
    }

    // MARK: Leases

    /// Leases are prolonged three times before they would end.
    mutating func renewLater() {
        guard !isRenewing, !runners.isEmpty else { return }
        isRenewing = true
        let lease = settings.sweep.lease.milliseconds
        let pause = rules.breaks(.leasesRenewedTooLate) ? lease * 2 : lease / 3
        jobs.append(.renewLater(after: Span(milliseconds: max(1, pause))))
    }

    mutating func renew() {
        isRenewing = false
        guard !runners.isEmpty else { return }
        renewLater()
        guard term != nil else { return }
        jobs.append(.renew(runners.mapValues(\.lease), leaseFor: settings.sweep.lease))
    }

    mutating func renewed(_ leases: [PaymentID: LeaseToken], _ result: Result<Set<PaymentID>, StoreFailure>) {
        guard case .success(let held) = result else { return }
        for (id, token) in leases.sorted(by: { $0.key < $1.key }) where !held.contains(id) {
            feed(id, token, .leaseLost)
        }
    }
}
