internal import HTTPTransport
internal import PaymentCore

/// A request to Stripe. Any complete answer is a reply: an error is a finding too.
protocol StripeRequest: ProviderRequest where Response == StripeReply, ReadingFailure == Never, Body == NoBody {
    /// `Idempotency-Key`; `nil` for a read.
    var idempotencyKey: String? { get }
}

extension StripeRequest {
    var idempotencyKey: String? { nil }
    /// The version whose shapes are read here. Without it an account's own default would choose them.
    var fields: [(name: String, value: String)] {
        var fields = [(name: "Stripe-Version", value: "2024-06-20")]
        if let idempotencyKey { fields.append((name: "Idempotency-Key", value: idempotencyKey)) }
        return fields
    }
    var maximumResponseBytes: Int { 1 << 20 }

    func decode(_ response: HTTPResponse) -> StripeReply { StripeReply(response, to: idempotencyKey) }
}

/// The names in the metadata of what is ours.
enum StripeMetadata {
    static let key = "reconciled_key"
    static let payment = "reconciled_payment"
    static let leg = "reconciled_leg"
    static let capture = "reconciled_capture"
}

/// `POST /v1/payment_intents`: registers a payment. It takes no money before it is confirmed.
struct RegisterIntent: StripeRequest {
    static let label = "register_intent"

    let order: SendOrder
    let units: Int64
    let capturesLater: Bool
    let store: StoreID?
    /// From 1: which registration of the order it is.
    var number = 1

    /// So many are made at the most.
    static let most = 5

    var method: HTTPMethod { .post }
    var path: [String] { ["v1", "payment_intents"] }
    var flightKey: String? { "register:\(order.transactionKey.text)" }
    /// A key is bound to one path: the key of the charge itself is for the confirm.
    var idempotencyKey: String? {
        order.transactionKey.text + (number == 1 ? "-register" : "-register-\(number)")
    }

    /// Nothing in it differs between the attempts to charge and the cancel of what never arrived: Stripe compares the
    /// parameters under a key.
    var form: [(name: String, value: String)]? {
        var form = [
            ("amount", String(units)), ("currency", order.amount.currency.code.lowercased()),
            ("capture_method", capturesLater ? "manual" : "automatic"),
            ("payment_method", order.instrument.token), ("payment_method_types[0]", "card"),
            ("transfer_group", order.transactionKey.text),
            ("metadata[\(StripeMetadata.key)]", order.transactionKey.text),
            ("metadata[\(StripeMetadata.payment)]", order.shownPayment.text),
            ("metadata[\(StripeMetadata.leg)]", String(order.leg)), ("metadata[reconciled_caller]", order.caller.name),
        ]
        if let reference = order.reference { form.append(("metadata[reconciled_reference]", reference)) }
        if let store { form.append(("metadata[\(WireTransaction.storeName)]", store.text)) }
        return form.map { (name: $0.0, value: $0.1) }
    }
}

/// `POST /v1/payment_intents/{id}/confirm`: the effect.
struct ConfirmIntent: StripeRequest {
    static let label = "confirm_intent"

    let intent: String
    /// The key of the charge.
    let key: String
    /// Where the payer is sent back to; `nil` where the payer is not present.
    let returnURL: WebAddress?

    var method: HTTPMethod { .post }
    var path: [String] { ["v1", "payment_intents", intent, "confirm"] }
    var flightKey: String? { "confirm:\(key)" }
    var idempotencyKey: String? { key }
    /// Where the payer is not present, a card that wants the payer to act is declined.
    var form: [(name: String, value: String)]? {
        let presence =
            returnURL.map { (name: "return_url", value: $0.text) } ?? (name: "error_on_requires_action", value: "true")
        return [presence, (name: "expand[0]", value: "latest_charge")]
    }
}

/// `POST /v1/payment_intents/{id}/capture`: takes what is held, once.
struct CaptureIntent: StripeRequest {
    static let label = "capture_intent"

    let intent: String
    let key: String
    let attempt: Int
    let units: Int64

    var method: HTTPMethod { .post }
    var path: [String] { ["v1", "payment_intents", intent, "capture"] }
    var flightKey: String? { "capture:\(key)" }
    /// Of each attempt: an error that Stripe stored is replayed under its key for a day, and would keep a hold from
    /// being captured. An intent is captured once, whatever the keys.
    var idempotencyKey: String? { "\(key)-\(attempt)" }
    var form: [(name: String, value: String)]? {
        [
            ("amount_to_capture", String(units)), ("metadata[\(StripeMetadata.capture)]", key),
            ("expand[0]", "latest_charge"),
        ]
    }
}

/// `POST /v1/payment_intents/{id}/cancel`: releases a hold, or leaves a tombstone.
struct CancelIntent: StripeRequest {
    static let label = "cancel_intent"

    let intent: String
    let key: String
    let attempt: Int

    var method: HTTPMethod { .post }
    var path: [String] { ["v1", "payment_intents", intent, "cancel"] }
    var flightKey: String? { "cancel:\(key)" }
    /// Of each attempt, as with a capture: a cancel takes nothing.
    var idempotencyKey: String? { "\(key)-\(attempt)" }
    var form: [(name: String, value: String)]? {
        [("cancellation_reason", "abandoned"), ("expand[0]", "latest_charge")]
    }
}

/// `POST /v1/refunds`: gives back what was taken.
struct CreateRefund: StripeRequest {
    static let label = "create_refund"

    let intent: String
    let key: String
    let units: Int64

    var method: HTTPMethod { .post }
    var path: [String] { ["v1", "refunds"] }
    var flightKey: String? { "refund:\(key)" }
    /// The same for each attempt: nothing but its key keeps a refund from being made twice.
    var idempotencyKey: String? { key }
    var form: [(name: String, value: String)]? {
        [
            ("payment_intent", intent), ("amount", String(units)), ("metadata[\(StripeMetadata.key)]", key),
        ]
    }
}

/// `GET /v1/payment_intents/{id}`: what no list of charges shows, because nothing is charged before the payer acts.
struct RetrieveIntent: StripeRequest {
    static let label = "retrieve_intent"

    let intent: String

    var method: HTTPMethod { .get }
    var path: [String] { ["v1", "payment_intents", intent] }
    var query: [(name: String, value: String)] { [("expand[0]", "latest_charge")] }
}

/// `GET /v1/charges`: the charges under our key, with their intents and refunds.
struct ListCharges: StripeRequest {
    static let label = "list_charges"

    let transactionKey: String
    /// Whether it is to say when money moved. A restricted key may not read that, and no inquiry needs it.
    var isDated = false

    var method: HTTPMethod { .get }
    var path: [String] { ["v1", "charges"] }
    var query: [(name: String, value: String)] {
        [
            ("transfer_group", transactionKey), ("limit", "20"), ("expand[0]", "data.payment_intent"),
            ("expand[1]", "data.refunds"),
        ] + (isDated ? [("expand[2]", "data.balance_transaction")] : [])
    }
}

/// `GET /v1/charges/{id}`: one charge, with its intent and refunds.
struct RetrieveCharge: StripeRequest {
    static let label = "retrieve_charge"

    let charge: String

    var method: HTTPMethod { .get }
    var path: [String] { ["v1", "charges", charge] }
    var query: [(name: String, value: String)] {
        [("expand[0]", "payment_intent"), ("expand[1]", "refunds"), ("expand[2]", "balance_transaction")]
    }
}

/// `GET /v1/charges`: the charges that were made in a slice of time, newest first.
struct ListCreatedCharges: StripeRequest {
    static let label = "list_created_charges"
    static let endpoint = ListCharges.label

    let slice: StripeSlice
    let limit: Int
    let after: String?

    var method: HTTPMethod { .get }
    var path: [String] { ["v1", "charges"] }
    var query: [(name: String, value: String)] {
        slice.query + [
            ("limit", String(limit)), ("expand[0]", "data.payment_intent"), ("expand[1]", "data.refunds"),
            ("expand[2]", "data.balance_transaction"),
        ] + (after.map { [("starting_after", $0)] } ?? [])
    }
    /// A charge with its intent and ten refunds takes some 15 kB.
    var maximumResponseBytes: Int { 4 << 20 }
}

/// `GET /v1/balance_transactions`: what moved money in a slice of time, or by one charge, refund or dispute, newest
/// first (docs.stripe.com/api/balance_transactions/list).
struct ListMovements: StripeRequest {
    static let label = "list_movements"

    let question: [(name: String, value: String)]
    let limit: Int
    let after: String?

    /// All of a slice, with what moved it.
    init(in slice: StripeSlice, limit: Int, after: String?) {
        question = slice.query + [("expand[0]", "data.source")]
        self.limit = limit
        self.after = after
    }

    /// Those of one charge, refund or dispute.
    init(by source: String) {
        question = [("source", source)]
        limit = 1
        after = nil
    }

    var method: HTTPMethod { .get }
    var path: [String] { ["v1", "balance_transactions"] }
    var query: [(name: String, value: String)] {
        question + [("limit", String(limit))] + (after.map { [("starting_after", $0)] } ?? [])
    }
    var maximumResponseBytes: Int { 4 << 20 }
}

/// `GET /v1/refunds`: the refunds of a charge, where it has more than its own list shows.
struct ListRefunds: StripeRequest {
    static let label = "list_refunds"

    let charge: String
    let after: String?

    var method: HTTPMethod { .get }
    var path: [String] { ["v1", "refunds"] }
    var query: [(name: String, value: String)] {
        [("charge", charge), ("limit", "100")] + (after.map { [("starting_after", $0)] } ?? [])
    }
}

/// `GET /v1/disputes`: the disputes of a charge.
struct ListDisputes: StripeRequest {
    static let label = "list_disputes"

    let charge: String

    var method: HTTPMethod { .get }
    var path: [String] { ["v1", "disputes"] }
    var query: [(name: String, value: String)] { [("charge", charge), ("limit", "100")] }
}
