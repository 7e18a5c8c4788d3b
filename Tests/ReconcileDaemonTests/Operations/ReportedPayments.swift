import MemoryStore
import Reconciler
import StoreContract

@testable import PaymentCore

/// Payments of a book that are reported, and how far that got.
struct ReportedPayments: Sendable {
    /// Of `shop`: its endpoint accepted the report.
    let delivered: PaymentID
    /// Of `shop`: its endpoint wants no more.
    let givenUp: PaymentID
    /// Of `shop`: it is due.
    let waiting: PaymentID
    /// Of `kiosk`: it is due.
    let other: PaymentID
    /// All of them, newest first.
    var all: [PaymentID] { [other, waiting, givenUp, delivered] }

    init(_ book: OperationsBook) async throws {
        let shop = try CallerID("shop")
        await book.store.report(to: [shop, try CallerID("kiosk")])
        func settled(_ key: String, of caller: String = "shop") async throws -> PaymentID {
            book.clock.advance(by: .seconds(1))
            var order = Scenario.Order(key)
            order.caller = caller
            return try await Scenario(store: book.store, clock: book.clock).settle(order).payment.id
        }
        delivered = try await settled("order-1")
        givenUp = try await settled("order-2")
        waiting = try await settled("order-3")
        other = try await settled("order-4", of: "kiosk")
        let request = WebhookClaimRequest(caller: shop, limit: 2, leaseFor: .minutes(1))
        for claimed in try await book.store.claimWebhooks(request) {
            let isFirst = claimed.webhook.payment == delivered
            let settlement = WebhookSettlement(of: claimed, isFirst ? .accepted : .givenUp(failure: "http_410"))
            guard try await book.store.settleWebhook(settlement) else {
                throw RunningOperations.Failure(description: "the webhook was not settled")
            }
        }
    }
}
