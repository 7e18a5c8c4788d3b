internal import HTTPTransport
public import PaymentCore
internal import Reconciler

/// A provider of the reference contract (`openapi/provider.yaml`), over HTTP.
///
/// Each call is one request on the wire at the most. Made by ``ProviderAssembly``.
public struct ReferenceProvider: AdaptedProvider {
    /// Its name in the configuration.
    public let name: ProviderName
    /// What it can do.
    public let contract: ProviderContract
    /// The store whose transactions are sent; `nil` names none.
    let store: StoreID?
    /// How amounts go over the wire.
    let amounts: AmountFormat
    /// Sends the requests.
    let client: ProviderClient
    /// The time, for the beginning of reads and for `Retry-After`.
    let clock: any WallClock

    /// Sends one request and classifies what became of it.
    public func send(_ order: SendOrder) async -> AttemptReport {
        let amount: WireAmount
        do {
            amount = try amounts.wire(order.amount)
        } catch {
            // Callers are told beforehand; what comes through all the same is a defect here, and nothing was
            // sent.
            return AttemptReport(.refused, code: "amount_\(error.reason.rawValue)")
        }
        return switch order.kind {
        case .authorize, .sale: await change(PutTransaction(order, amount: amount, store: store), order)
        case .capture: await change(PutCapture(order, amount: amount), order)
        case .refund: await change(PutRefund(order, amount: amount), order)
        case .void: await change(PostVoid(order), order)
        }
    }

    /// Reads the status of one transaction.
    ///
    /// Whatever goes wrong is an observation: `unavailable`, with its reason.
    public func inquire(_ order: InquiryOrder) async -> Observation {
        let request = GetTransaction(transactionKey: order.transactionKey.text)
        let result = InquiryReading(reading: reading(of: order.phases), order: order, began: clock.now())
        do {
            return result.observation(of: request.decode(try await client.exchange(request)))
        } catch {
            return result.observation(of: error)
        }
    }

    /// Whether an amount can be charged here exactly as it is.
    ///
    /// - Throws: why not. The caller API answers 422 with it.
    public func validate(_ amount: Money) throws(UnconvertibleAmount) {
        _ = try amounts.wire(amount)
    }

    /// - Parameter phases: those of the leg that is read; `nil`: whatever may be read.
    func reading(of phases: ProviderContract.Phases?) -> ObservationReading {
        ObservationReading(
            amounts: amounts, phases: phases ?? contract.phases, keyFormat: contract.keyFormat)
    }

    private func change<Change: TransactionChange>(_ request: Change, _ order: SendOrder) async
        -> AttemptReport
    {
        let began = clock.now()
        let classification = OutcomeClassification(
            reading: reading(of: order.phases), payment: order.shownPayment, began: began)
        let startBefore = ContinuousClock.now + .milliseconds((order.startBefore - began).milliseconds)
        do {
            let response = try await client.exchange(request, startBefore: startBefore)
            return classification.report(of: request.decode(response), to: request, now: clock.now())
        } catch {
            return OutcomeClassification.report(of: error)
        }
    }
}
