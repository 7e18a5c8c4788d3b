internal import HTTPTransport
internal import PaymentCore
internal import Reconciler

/// Stripe's PaymentIntents over HTTP (`docs/providers/stripe.md`).
///
/// A charge is registered first, which takes no money, and confirmed then. It is found again by a list under our key.
/// Each call sends the effect itself at most once; what goes before it takes no money, and what goes after it reads.
struct StripeProvider: AdaptedProvider {
    let name: ProviderName
    let contract: ProviderContract
    /// The store whose transactions are sent; `nil` names none.
    let store: StoreID?
    let client: ProviderClient
    let clock: any WallClock

    func validate(_ amount: Money) throws(UnconvertibleAmount) { _ = try StripeAmounts.units(of: amount) }

    func send(_ order: SendOrder) async -> AttemptReport {
        let units: Int64
        do {
            units = try StripeAmounts.units(of: order.amount)
        } catch {
            // Callers are told beforehand; what comes through all the same is a defect here, and nothing was sent.
            return AttemptReport(.refused, code: "amount_\(error.reason.rawValue)")
        }
        let change = StripeChange(order: order, units: units, began: clock.now())
        return switch order.kind {
        case .authorize, .sale: await charge(change)
        case .capture: await capture(change)
        case .refund: await refund(change)
        case .void: await cancel(change)
        }
    }

    func inquire(_ order: InquiryOrder) async -> Observation {
        let began = clock.now()
        switch await find(order.transactionKey, intent: order.transactionReference) {
        case .found(let transaction):
            return reading(order.phases).observation(
                of: transaction, key: order.transactionKey, payment: order.payment, began: began, source: .inquiry)
        case .absent: return Observation(.notFound, began: began, source: .inquiry)
        case .unknown(let reply):
            return Observation(.unavailable, began: began, source: .inquiry, reason: reply.code)
        }
    }

    func reading(_ phases: ProviderContract.Phases?) -> StripeReading {
        StripeReading(keyFormat: contract.keyFormat, phases: phases ?? contract.phases)
    }

    func observation(
        of transaction: StripeTransaction, _ change: StripeChange, began: Timestamp
    ) -> Observation {
        reading(change.order.phases).observation(
            of: transaction, key: change.order.transactionKey, payment: change.order.shownPayment, began: began,
            source: .answer)
    }

    // MARK: The wire

    /// Sends one request.
    ///
    /// - Parameter change: Whose order it belongs to: it must begin before that order's last moment. `nil` for a read,
    ///   which may begin at any time.
    func exchange<Request: StripeRequest>(
        _ request: Request, _ change: StripeChange? = nil
    ) async -> Result<StripeReply, TransportFailure> {
        do {
            let response = try await client.exchange(request, startBefore: change?.startBefore)
            return .success(request.decode(response))
        } catch {
            return .failure(error)
        }
    }
}

/// A change that is asked for.
struct StripeChange: Sendable {
    let order: SendOrder
    /// The amount as Stripe counts it.
    let units: Int64
    /// When it began, by our clock.
    let began: Timestamp
    /// Not one byte may be written after this moment.
    let startBefore: ContinuousClock.Instant

    init(order: SendOrder, units: Int64, began: Timestamp) {
        self.order = order
        self.units = units
        self.began = began
        startBefore = .now + .milliseconds((order.startBefore - began).milliseconds)
    }
}
