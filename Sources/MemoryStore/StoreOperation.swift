internal import Reconciler

/// The operations of a store, by which a fault is scripted.
public enum StoreOperation: String, Sendable, Hashable, CaseIterable {
    /// ``PaymentStore/now()``
    case now
    /// ``PaymentStore/commit(_:)``
    case commit
    /// ``PaymentStore/payment(_:)``
    case payment
    /// ``PaymentStore/payments(_:)``
    case payments
    /// ``PaymentStore/auditTrail(of:after:limit:)``
    case auditTrail = "audit trail"
    /// ``PaymentStore/payment(at:effect:)``
    case paymentOfEffect = "payment of an effect"
    /// ``PaymentStore/claimDue(_:)``
    case claimDue = "claim due"
    /// ``PaymentStore/claimWaiting(_:)``
    case claimWaiting = "claim waiting"
    /// ``PaymentStore/claim(_:holder:leaseFor:)``
    case claim
    /// ``PaymentStore/renew(_:leaseFor:)``
    case renew
    /// ``PaymentStore/release(_:token:)``
    case release
    /// ``PaymentStore/nextDue(in:)``
    case nextDue = "next due"
    /// ``PaymentStore/idempotencyRecord(caller:key:)``
    case idempotencyRecord = "idempotency record"
    /// ``PaymentStore/storeAnswer(_:caller:key:)``
    case storeAnswer = "store answer"
    /// ``PaymentStore/seal()``
    case seal
    /// ``PaymentStore/verifySeals()``
    case verifySeals = "verify seals"
    /// ``PaymentStore/standbyReading(_:)``
    case standbyReading = "standby"
    /// ``PaymentStore/statistics()``
    case statistics
    /// ``PaymentStore/probe()``
    case probe
    /// ``ComparisonStore/begin(_:)``
    case beginRun = "begin run"
    /// ``ComparisonStore/claimRun(_:holder:leaseFor:)``
    case claimRun = "claim run"
    /// ``ComparisonStore/renewRun(_:token:leaseFor:)``
    case renewRun = "renew run"
    /// ``ComparisonStore/releaseRun(_:token:)``
    case releaseRun = "release run"
    /// ``ComparisonStore/abandonRun(_:)``
    case abandonRun = "abandon run"
    /// ``ComparisonStore/run(_:)``
    case run
    /// ``ComparisonStore/runs(_:)``
    case runs
    /// ``ComparisonStore/chainHead(of:)``
    case chainHead = "chain head"
    /// ``ComparisonStore/findings(of:after:limit:)``
    case findings
    /// ``ComparisonStore/positions(at:_:)``
    case positions
    /// ``ComparisonStore/changedPositions(at:in:after:limit:)``
    case changedPositions = "changed positions"
    /// ``ComparisonStore/unsettledPositions(at:after:limit:)``
    case unsettledPositions = "unsettled positions"
    /// ``ComparisonStore/standing(at:)``
    case standing
    /// ``ComparisonStore/explainedDifferences(at:)``
    case explainedDifferences = "explained differences"
    /// ``ComparisonStore/record(_:token:)``
    case recordStep = "record step"
    /// ``ComparisonStore/discrepancies(_:)-([DiscrepancyID])``
    case discrepanciesByID = "discrepancies by id"
    /// ``ComparisonStore/discrepancies(_:)-(DiscrepancyQuery)``
    case discrepancies
    /// ``ComparisonStore/change(_:)``
    case changeDiscrepancy = "change discrepancy"
    /// ``ComparisonStore/discrepancyCounts()``
    case discrepancyCounts = "discrepancy counts"
    /// ``RepairStore/repair(_:)``
    case repair
    /// ``RepairStore/repairs(_:)``
    case repairs
    /// ``WebhookStore/claimWebhooks(_:)``
    case claimWebhooks = "claim webhooks"
    /// ``WebhookStore/settleWebhook(_:)``
    case settleWebhook = "settle webhook"
    /// ``WebhookStore/nextWebhooks(of:)``
    case nextWebhooks = "next webhooks"
    /// ``WebhookStore/webhook(of:)``
    case webhook
    /// ``WebhookStore/webhooks(_:)``
    case webhooks
    /// ``WebhookStore/redeliverWebhook(of:)``
    case redeliverWebhook = "redeliver webhook"
    /// ``WebhookStore/webhookCounts()``
    case webhookCounts = "webhook counts"
    /// ``SiteStore/siteReading()``
    case siteReading = "site"
    /// ``SiteStore/noteAlive(epoch:)``
    case noteAlive = "note alive"
    /// ``SiteStore/renewSite(_:)``
    case renewSite = "renew site"
    /// ``SiteStore/beginTerm(_:after:loss:)``
    case beginTerm = "begin term"
    /// ``SiteStore/changeSite(_:epoch:)``
    case changeSite = "change site"
    /// ``SiteStore/siteTerms(limit:)``
    case siteTerms = "terms"
    /// ``SiteStore/paymentsInWork()``
    case paymentsInWork = "payments in work"

    /// Whether it writes under the term of the site.
    var isWrite: Bool {
        switch self {
        case .commit, .claimDue, .claimWaiting, .claim, .renew, .release, .storeAnswer, .seal, .beginRun, .claimRun,
            .renewRun, .releaseRun, .abandonRun, .recordStep, .changeDiscrepancy, .claimWebhooks, .settleWebhook,
            .redeliverWebhook:
            true
        default: false
        }
    }
}

/// A failure that waits for its operation.
struct ScriptedFault {
    let code: StoreFailure.Code
    let operation: StoreOperation
    let afterDoing: Bool
}
