internal import HTTPTransport
internal import Logging
internal import PaymentCore
internal import Reconciler

/// Reads from each answer what time it is at the provider (`Date`, RFC 9110, section 6.6.1). Whatever is answered, and
/// to whatever question: a problem tells the time as well as a transaction.
struct AnswerTime: Middleware {
    /// The provider.
    let provider: ProviderName
    /// What its contract allows.
    let skew: Span
    /// Our time.
    let clock: any WallClock
    /// Hears of each answer.
    let watch: ProviderClockWatch
    /// Is told when a clock is in doubt, and when it is right again.
    let logger: Logger

    func send(_ request: HTTPRequest, next: any HTTPSender) async throws(TransportFailure) -> HTTPResponse {
        let sent = clock.now()
        let response = try await next.send(request)
        let received = clock.now()
        // Two dates are none.
        let dates = response.fields.values(of: "Date")
        guard dates.count == 1, let said = Timestamp(httpDate: dates[0]) else { return response }
        let answer = ProviderClocks.Answer(sent: sent, received: received, said: said)
        guard let isInDoubt = watch.note(answer, of: provider, allowed: skew) else { return response }
        let offset = watch.reading(of: provider)?.offset.milliseconds ?? 0
        if isInDoubt {
            logger.error("the provider's clock is further off than its contract allows", metadata: ["ms": "\(offset)"])
        } else {
            logger.notice("the provider's clock is right again", metadata: ["ms": "\(offset)"])
        }
        return response
    }
}
