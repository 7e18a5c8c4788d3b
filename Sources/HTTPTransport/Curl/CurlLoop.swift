import CLibCurl

/// The event loop.
///
/// It lives on its thread alone and owns the multi handle, every easy handle and every transfer.
final class CurlLoop {
    private let inbox: Inbox
    private let configuration: CurlConfiguration
    private let multi: UnsafeMutableRawPointer
    private var running: [UInt64: (transfer: Transfer, easy: UnsafeMutableRawPointer)] = [:]
    private var byHandle: [UnsafeMutableRawPointer: UInt64] = [:]
    /// Handles that were used before: making one costs as much as a small request.
    private var spare: [UnsafeMutableRawPointer] = []

    /// Made on the thread on which it runs.
    init(_ inbox: Inbox, _ configuration: CurlConfiguration) {
        self.inbox = inbox
        self.configuration = configuration
        precondition(CurlLibrary.isReady, "libcurl could not be initialized")
        guard let multi = curl_multi_init() else { preconditionFailure("libcurl has no memory for its loop") }
        self.multi = multi
        let connections = max(1, configuration.maximumConnections)
        reconciled_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connections)
        reconciled_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections)
        reconciled_multi_set_long(
            multi, CURLMOPT_PIPELINING, configuration.http2 ? Int(CURLPIPE_MULTIPLEX) : 0)
        inbox.open(multi)
    }

    deinit {
        for easy in spare { curl_easy_cleanup(easy) }
        curl_multi_cleanup(multi)
    }

    /// Runs until the inbox orders the end.
    func run() {
        var fault: CURLMcode = CURLM_OK
        while true {
            let (commands, ending) = inbox.drain()
            for command in commands { obey(command) }
            var active: Int32 = 0
            fault = curl_multi_perform(multi, &active)
            guard fault == CURLM_OK else { break }
            collect()
            expire(now: .now)
            if case .by(let instant) = ending, running.isEmpty || instant <= .now { break }
            // Finished transfers may let waiting ones start; those report for themselves through the poll.
            fault = curl_multi_poll(multi, nil, 0, patience(ending), nil)
            guard fault == CURLM_OK else { break }
        }
        stop(because: fault)
    }

    private func obey(_ command: Inbox.Command) {
        switch command {
        case .start(let exchange): start(exchange)
        case .cancel(let id):
            guard let entry = settled(id) else { return }
            end(id, .failure(entry.transfer.failure(.cancelled, "the task was cancelled")))
        }
    }

    private func start(_ exchange: Exchange) {
        guard let target = RequestTarget(exchange.request.url), let easy = spare.popLast() ?? curl_easy_init()
        else {
            return exchange.answer.resume(
                returning: .failure(TransportFailure(code: .other, phase: .waiting, detail: "no memory")))
        }
        let transfer = Transfer(exchange, target: target, addresses: configuration.addresses, now: .now)
        if let code = TransferOptions(easy, for: transfer, configuration).refused {
            release(easy)
            let words = String(cString: curl_easy_strerror(code))
            return transfer.finish(.failure(transfer.failure(.invalidRequest, words)))
        }
        running[transfer.id] = (transfer, easy)
        byHandle[easy] = transfer.id
        let code = curl_multi_add_handle(multi, easy)
        if code != CURLM_OK {
            let words = String(cString: curl_multi_strerror(code))
            end(transfer.id, .failure(transfer.failure(.other, words)))
        }
    }

    /// Takes the finished transfers from libcurl.
    private func collect() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let id = byHandle[easy], let entry = settled(id)
            else { continue }
            let code = message.pointee.data.result
            end(id, code == CURLE_OK ? answer(entry) : .failure(entry.transfer.failure(code, easy: easy)))
        }
    }

    private func answer(
        _ entry: (transfer: Transfer, easy: UnsafeMutableRawPointer)
    ) -> Result<HTTPResponse, TransportFailure> {
        let transfer = entry.transfer
        var status = 0
        let code = reconciled_easy_get_long(entry.easy, CURLINFO_RESPONSE_CODE, &status)
        guard code == CURLE_OK, (200...599).contains(status) else {
            return .failure(transfer.failure(.malformedResponse, "no final status"))
        }
        transfer.progress.completed()
        return .success(
            HTTPResponse(
                status: status, fields: transfer.collector.fields, body: transfer.collector.body,
                bytesWritten: transfer.progress.bytesWritten))
    }

    private func expire(now: ContinuousClock.Instant) {
        for (id, waiting) in running {
            guard let code = waiting.transfer.progress.expired(now: now), let entry = settled(id) else {
                continue
            }
            end(id, .failure(entry.transfer.failure(code, "")))
        }
    }

    /// The transfer, with the last word on what it has written.
    private func settled(_ id: UInt64) -> (transfer: Transfer, easy: UnsafeMutableRawPointer)? {
        guard let entry = running[id] else { return nil }
        var bytes = 0
        if reconciled_easy_get_long(entry.easy, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK {
            entry.transfer.progress.wroteInAll(atLeast: bytes)
        }
        return entry
    }

    /// How long the loop may sleep, in milliseconds.
    ///
    /// Commands and sockets wake it earlier.
    private func patience(_ ending: Inbox.Ending) -> Int32 {
        let now = ContinuousClock.now
        var until = running.values.map(\.transfer.progress.nextDeadline).min()
        if case .by(let instant) = ending { until = min(until ?? instant, instant) }
        guard let until else { return 60_000 }
        return until <= now ? 0 : Int32(min(60_000, (until - now).milliseconds))
    }

    /// Lets go of a transfer.
    ///
    /// The handle leaves libcurl before the task may go on, so that nothing is written after the task was
    /// told how much was.
    private func end(_ id: UInt64, _ result: Result<HTTPResponse, TransportFailure>) {
        guard let entry = running.removeValue(forKey: id) else { return }
        byHandle[entry.easy] = nil
        curl_multi_remove_handle(multi, entry.easy)
        release(entry.easy)
        entry.transfer.finish(result)
    }

    private func release(_ easy: UnsafeMutableRawPointer) {
        curl_easy_reset(easy)
        if spare.count < 64 { spare.append(easy) } else { curl_easy_cleanup(easy) }
    }

    private func stop(because fault: CURLMcode) {
        let reason =
            fault == CURLM_OK ? "the sender was shut down" : String(cString: curl_multi_strerror(fault))
        let code: TransportFailure.Code = fault == CURLM_OK ? .cancelled : .other
        inbox.end(by: .now)
        for command in inbox.drain().commands {
            guard case .start(let exchange) = command else { continue }
            exchange.answer.resume(
                returning: .failure(TransportFailure(code: code, phase: .waiting, detail: reason)))
        }
        for id in running.keys {
            guard let entry = settled(id) else { continue }
            end(id, .failure(entry.transfer.failure(code, reason)))
        }
        inbox.close()
    }
}

/// libcurl's process-wide state, initialized once.
enum CurlLibrary {
    static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK
}
