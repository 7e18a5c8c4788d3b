public import Logging
internal import Metrics
public import PaymentCore

/// Where the webhooks of callers go.
public protocol WebhookEndpoint: Sendable {
    /// Sends the payment's document, as it is now, to its caller's endpoint.
    func deliver(_ payment: Payment) async -> WebhookAnswer
}

/// Delivers webhooks: of each caller some at a time, so that one whose endpoint is slow or away delays nobody else.
///
/// Any number of processes may do so; the rows' leases keep them apart. A delivery whose answer was lost is made again:
/// the receiver sees the same identifier if the payment did not change.
public struct WebhookCourier: Sendable {
    /// How it works.
    public struct Settings: Sendable {
        /// How often it looks for what is due.
        public var every = Span.seconds(1)
        /// How many webhooks of one caller are on the wire at once.
        public var concurrency = 8
        /// How long a row belongs to a process. Longer than a request may take, and the store after it.
        public var lease = Span.minutes(1)

        /// The documented defaults.
        public init() {}
    }

    let store: any PaymentStore & WebhookStore
    let endpoint: any WebhookEndpoint
    let callers: [CallerID]
    let settings: Settings
    let mayWork: @Sendable () -> Bool
    let clock: any WallClock
    let logger: Logger

    /// A courier.
    /// - Parameters:
    ///   - store: Where the rows and the payments are.
    ///   - endpoint: Where webhooks go.
    ///   - callers: Whose webhooks it delivers.
    ///   - mayWork: Whether this process may work at present; asked before rows are claimed.
    public init(
        store: any PaymentStore & WebhookStore, endpoint: any WebhookEndpoint, callers: [CallerID],
        settings: Settings = Settings(), mayWork: @escaping @Sendable () -> Bool = { true }, clock: any WallClock,
        logger: Logger
    ) {
        self.store = store
        self.endpoint = endpoint
        self.callers = callers
        self.settings = settings
        self.mayWork = mayWork
        self.clock = clock
        self.logger = logger
    }

    /// Works until the task is cancelled. What is on the wire then is delivered again once its lease ends.
    public func run() async {
        await withTaskGroup(of: CallerID?.self) { group in
            // Whoever has something due is worked on until nothing is left; meanwhile the others are looked at.
            var working: Set<CallerID> = []
            group.addTask { await pause() }
            while let ended = await group.next(), !Task.isCancelled {
                if let ended {
                    working.remove(ended)
                    continue
                }
                for caller in await due(among: callers.filter { !working.contains($0) }) {
                    working.insert(caller)
                    group.addTask {
                        await deliver(to: caller)
                        return caller
                    }
                }
                group.addTask { await pause() }
            }
            group.cancelAll()
        }
    }

    private func pause() async -> CallerID? {
        do {
            try await clock.sleep(until: clock.now() + settings.every)
        } catch {
            // The task was cancelled: the loop sees that at its next look.
        }
        return nil
    }

    /// Who has something to deliver now.
    private func due(among callers: [CallerID]) async -> [CallerID] {
        guard mayWork(), !callers.isEmpty else { return [] }
        do {
            let next = try await store.nextWebhooks(of: callers)
            guard !next.isEmpty else { return [] }
            let now = try await store.now()
            return callers.filter { caller in next[caller].map { $0 <= now } ?? false }
        } catch {
            failed(error)
            return []
        }
    }

    /// Delivers what is due to a caller, until there is no more.
    private func deliver(to caller: CallerID) async {
        let request = WebhookClaimRequest(
            caller: caller, limit: settings.concurrency, leaseFor: settings.lease)
        while mayWork(), !Task.isCancelled {
            let claimed: [ClaimedWebhook]
            do {
                claimed = try await store.claimWebhooks(request)
            } catch {
                return failed(error)
            }
            guard !claimed.isEmpty else { return }
            let isWritten = await withTaskGroup(of: Bool.self) { group in
                for webhook in claimed { group.addTask { await deliver(webhook) } }
                return await group.reduce(true) { $0 && $1 }
            }
            // A store that does not write would have the same delivered again and again.
            guard isWritten else { return }
        }
    }

    /// Delivers one, and writes what became of it; `false` if that could not be written.
    private func deliver(_ claimed: ClaimedWebhook) async -> Bool {
        let payment: Payment?
        do {
            payment = try await store.payment(claimed.webhook.payment)
        } catch {
            failed(error)
            return false
        }
        guard let payment else { return await settle(claimed, after: .unsent(code: "payment_missing")) }
        // A state on the way would be the last word of a payment that comes back to where it was.
        guard payment.reportedState != nil else {
            return await write(WebhookSettlement(of: claimed, .postponed(by: WebhookRules.postponement)), of: claimed)
        }
        // Asked last before anything leaves: the process may have stood still since the claim.
        guard mayWork() else { return false }
        let answer = await endpoint.deliver(payment)
        // This process stops. That is no failure of the endpoint: the lease ends, and another one delivers it.
        if Task.isCancelled, case .none = answer { return false }
        return await settle(claimed, after: answer)
    }

    private func settle(_ claimed: ClaimedWebhook, after answer: WebhookAnswer) async -> Bool {
        await write(WebhookRules.settlement(of: claimed, after: answer), of: claimed)
    }

    private func write(_ settlement: WebhookSettlement, of claimed: ClaimedWebhook) async -> Bool {
        do {
            guard try await store.settleWebhook(settlement) else { return true }
        } catch {
            failed(error)
            return false
        }
        tell(settlement, of: claimed.webhook)
        return true
    }

    private func tell(_ settlement: WebhookSettlement, of webhook: Webhook) {
        let words: Logger.Metadata = ["payment": "\(webhook.payment)", "caller": "\(webhook.caller)"]
        let outcome: String
        switch settlement.outcome {
        case .accepted: outcome = "accepted"
        case .postponed: return
        case .again(let pause, let failure):
            outcome = "failed"
            let more: Logger.Metadata = ["failure": "\(failure)", "again_in_s": "\(pause.milliseconds / 1_000)"]
            logger.info("a webhook was not accepted", metadata: words.merging(more) { first, _ in first })
        case .givenUp(let failure):
            outcome = "given_up"
            let more: Logger.Metadata = ["failure": "\(failure)", "attempts": "\(webhook.attempts + 1)"]
            logger.error("a webhook was given up", metadata: words.merging(more) { first, _ in first })
        }
        Counter(
            label: "reconciled_webhook_deliveries", dimensions: [("caller", webhook.caller.name), ("outcome", outcome)]
        ).increment()
    }

    private func failed(_ failure: StoreFailure) {
        // A site that lost its right to act says so elsewhere.
        guard failure.code != .inactive else { return }
        logger.warning("webhooks wait for the store", metadata: ["error": "\(failure)"])
    }
}
