import CLibCurl

/// One request in the hands of libcurl.
///
/// It lives on the loop's thread alone, from start to finish, so it needs no lock.
final class Transfer {
    /// Names the request between the sender and the loop.
    let id: UInt64
    /// What is asked.
    let request: HTTPRequest
    /// Scheme and host.
    let target: RequestTarget
    /// How far it got.
    var progress: TransferProgress
    /// What came.
    var collector: ResponseCollector
    /// The request's header lines: libcurl reads them until the transfer ends.
    var headerList: UnsafeMutablePointer<curl_slist>?
    /// libcurl's own words about the last failure, while nothing of the request or the answer can be in them.
    let errorText: UnsafeMutablePointer<CChar>

    private let addresses: AddressRule
    private let answer: CheckedContinuation<Result<HTTPResponse, TransportFailure>, Never>

    init(_ exchange: Exchange, target: RequestTarget, addresses: AddressRule, now: ContinuousClock.Instant) {
        id = exchange.id
        request = exchange.request
        answer = exchange.answer
        self.target = target
        self.addresses = addresses
        progress = TransferProgress(exchange.request, secure: target.secure, now: now)
        collector = ResponseCollector(maximumBodyBytes: exchange.request.maximumResponseBytes)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_slist_free_all(headerList)
        errorText.deinitialize(count: Int(CURL_ERROR_SIZE))
        errorText.deallocate()
    }

    /// Hands the result to the waiting task.
    ///
    /// Called exactly once, by the loop, when it lets go of the transfer.
    func finish(_ result: Result<HTTPResponse, TransportFailure>) {
        answer.resume(returning: result)
    }

    /// Whether a connection to this address may be made; the progress remembers the answer.
    ///
    /// `nil` stands for an address that is no IP address.
    func mayConnect(to address: IPAddress?) -> Bool {
        let isAllowed = addresses.allows(address)
        progress.judgedAddress(isAllowed: isAllowed)
        return isAllowed
    }

    /// A failure at the point which the transfer has reached.
    func failure(_ code: TransportFailure.Code, _ detail: String) -> TransportFailure {
        TransportFailure(
            code: code, phase: progress.phase, bytesWritten: progress.bytesWritten,
            detail: detail.isEmpty ? target.authority : "\(target.authority): \(detail)")
    }
}

/// A request on its way from a task to the loop, and the way back for its answer.
struct Exchange: Sendable {
    let id: UInt64
    let request: HTTPRequest
    let answer: CheckedContinuation<Result<HTTPResponse, TransportFailure>, Never>
}
