import HTTPTransport
import Reconciler

@testable import PaymentCore
@testable import Providers

/// A clock that a test sets.
///
/// Nothing sleeps on it.
struct StandingClock: WallClock {
    static let noon = Timestamp(milliseconds: 1_772_366_400_000)  // 2026-03-01T12:00:00Z

    var moment = StandingClock.noon

    func now() -> Timestamp { moment }
    func sleep(until moment: Timestamp) async throws { throw CancellationError() }
}

/// Orders of one payment, with the keys that the core would derive.
struct OrderBook {
    var caller: String = "shop"
    var paymentKey: String = "order-4711"
    var provider: String = "card"
    var instrument: String = "tok_9f3c2a7b1234"
    var reference: String? = "4711/a"
    var format = KeyFormat.hex40
    var currency: String = "JPY"
    /// What its transaction begins with: a hold, or a sale.
    var primary = EffectKind.authorize
    /// What the provider calls its transaction, where it must be told.
    var transactionReference: String?
    /// When its orders are made: each may begin for an hour.
    var now = StandingClock.noon

    func send(
        _ kind: EffectKind, _ value: Int64 = 1200, number: Int = 1, notAfter: Timestamp? = nil,
        startBefore: Timestamp? = nil, discriminator: String = "create"
    ) throws -> SendOrder {
        let primary = kind == .sale ? .sale : primary
        return SendOrder(
            payment: try payment, leg: 0, effect: .primary, number: number, provider: try ProviderName(provider),
            kind: kind, transactionKey: try key(primary),
            key: try kind == primary ? key(primary) : key(kind, operation: discriminator),
            amount: try money(value), instrument: try Instrument(token: instrument), caller: try CallerID(caller),
            reference: reference, notAfter: notAfter, startBefore: startBefore ?? now + .hours(1),
            transactionReference: transactionReference)
    }

    /// An order that changes the transaction of a sale.
    func sendAfterSale(_ kind: EffectKind, _ value: Int64 = 1200) throws -> SendOrder {
        let order = try send(kind, value)
        return SendOrder(
            payment: order.payment, leg: 0, effect: .primary, number: 1, provider: order.provider, kind: kind,
            transactionKey: try key(.sale), key: order.key, amount: order.amount, instrument: order.instrument,
            caller: order.caller, reference: reference, notAfter: nil, startBefore: order.startBefore)
    }

    func inquiry(_ primary: EffectKind? = nil) throws -> InquiryOrder {
        InquiryOrder(
            payment: try payment, leg: 0, provider: try ProviderName(provider),
            transactionKey: try key(primary ?? self.primary))
    }

    func money(_ value: Int64) throws -> Money {
        guard let currency = Currency(code: currency) else { throw WrongFixture() }
        return try Money(value, currency)
    }

    var payment: PaymentID {
        get throws { PaymentID(caller: try CallerID(caller), key: try IdempotencyKey(paymentKey)) }
    }

    func key(_ kind: EffectKind, operation: String = "create") throws -> EffectKey {
        EffectKey(
            EffectKey.Source(
                caller: try CallerID(caller), payment: try payment, operation: try IdempotencyKey(operation), leg: 0,
                effect: kind),
            format: format)
    }
}

/// The fixture itself is wrong.
struct WrongFixture: Error {}

/// A provider over a script instead of the wire.
func scriptedProvider(
    _ sender: any HTTPSender, contract: ProviderContract = .reference, amounts: AmountFormat = .minorUnits,
    now: Timestamp = StandingClock.noon
) throws -> ReferenceProvider {
    ReferenceProvider(
        name: try ProviderName("card"), contract: contract, store: nil, amounts: amounts,
        client: ProviderClient(
            address: try ProviderAddress("https://provider.example/card/"), sender: sender, limits: TimeLimits()),
        clock: StandingClock(moment: now))
}

extension HTTPFields {
    /// A content type alone; none where it is `nil`.
    static func of(_ contentType: String?, retryAfter: String? = nil) -> HTTPFields {
        var fields = HTTPFields()
        if let contentType { fields["Content-Type"] = contentType }
        if let retryAfter { fields["Retry-After"] = retryAfter }
        return fields
    }
}
