import CoreMetrics
import HTTPTransport
import Logging
import Metrics
import PaymentAPI
import PaymentCore
import Reconciler
import ServiceLifecycle
import Webhooks

/// Delivers webhooks. It has nothing to finish: what is on the wire is delivered again.
struct WebhookService: Service {
    let courier: WebhookCourier

    func run() async throws {
        await cancelWhenGracefulShutdown { await courier.run() }
    }
}

/// Keeps the gauges of webhooks up to date.
struct WebhookStatisticsService: Service {
    let store: any WebhookStore
    let callers: [CallerID]
    let clock: any WallClock
    let logger: Logger

    private static let every = Span.seconds(10)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do throws(StoreFailure) {
                    record(try await store.webhookCounts())
                } catch {
                    logger.warning("webhooks could not be counted", metadata: ["error": "\(error)"])
                }
                do {
                    try await clock.sleep(until: clock.now() + WebhookStatisticsService.every)
                } catch {
                    return
                }
            }
        }
    }

    private func record(_ counts: [WebhookCount]) {
        let now = clock.now()
        for caller in callers {
            let count = counts.first { $0.caller == caller }
            func gauge(_ label: String, _ more: [(String, String)] = []) -> Gauge {
                Gauge(label: label, dimensions: [("caller", caller.name)] + more)
            }
            gauge("reconciled_webhooks_open", [("state", Webhook.State.waiting.rawValue)]).record(count?.waiting ?? 0)
            gauge("reconciled_webhooks_open", [("state", Webhook.State.givenUp.rawValue)]).record(count?.givenUp ?? 0)
            let age = count?.oldestWaiting.map { now - $0 } ?? .zero
            gauge("reconciled_oldest_webhook_seconds").record(Double(age.milliseconds) / 1_000)
        }
    }
}

extension Daemon {
    /// The wires to the endpoints of callers, by caller.
    func webhookSenders() -> [CallerID: CurlSender] {
        roles.settle ? configuration.webhooks.mapValues(\.sender) : [:]
    }

    /// What tells callers of their payments without being asked; nothing where no caller wants that.
    func webhookServices(
        _ store: any PaymentStore & WebhookStore, _ senders: [CallerID: CurlSender], _ gate: SiteGate,
        _ clock: any WallClock, _ logger: Logger
    ) -> [any Service] {
        let callers = configuration.reportedCallers.sorted { $0.name < $1.name }
        guard !callers.isEmpty else { return [] }
        let statistics = WebhookStatisticsService(store: store, callers: callers, clock: clock, logger: logger)
        guard roles.settle else { return [statistics] }
        var targets: [CallerID: WebhookSender.Target] = [:]
        for (caller, webhook) in configuration.webhooks {
            guard let sender = senders[caller], let secrets = secrets.webhooks[caller] else { continue }
            targets[caller] = WebhookSender.Target(url: webhook.url, secrets: secrets, sender: sender)
        }
        let endpoint = WebhookSender(targets: targets, body: PaymentReport.body, clock: clock)
        let courier = WebhookCourier(
            store: store, endpoint: endpoint, callers: callers,
            mayWork: { gate.standing.maySettle }, clock: clock, logger: logger)
        return [statistics, WebhookService(courier: courier)]
    }
}
