import CLibCurl

/// Sets the options of one handle, and remembers the first that libcurl refused.
struct TransferOptions {
    private let easy: UnsafeMutableRawPointer
    private(set) var refused: CURLcode?

    /// Prepares `easy` for the transfer.
    ///
    /// `refused` is set afterwards if the handle must not be used.
    init(_ easy: UnsafeMutableRawPointer, for transfer: Transfer, _ configuration: CurlConfiguration) {
        self.easy = easy
        destination(transfer, configuration)
        message(transfer)
        connection(transfer.request.limits, configuration)
        security(configuration)
        callbacks(transfer)
    }

    private mutating func destination(_ transfer: Transfer, _ configuration: CurlConfiguration) {
        set(CURLOPT_URL, transfer.request.url)
        set(CURLOPT_PROTOCOLS_STR, configuration.allowPlainHTTP ? "http,https" : "https")
        set(CURLOPT_REDIR_PROTOCOLS_STR, "https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_PATH_AS_IS, 1)
        // An empty string also keeps libcurl from reading proxies out of the environment.
        set(CURLOPT_PROXY, "")
    }

    private mutating func message(_ transfer: Transfer) {
        let request = transfer.request
        set(CURLOPT_CUSTOMREQUEST, request.method.rawValue)
        if request.method == .get {
            set(CURLOPT_HTTPGET, 1)
        } else {
            // Copied by libcurl, so that the array may go; the size must be known before.
            note(reconciled_easy_set_large(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)))
            request.body.withUnsafeBytes { bytes in
                if let start = bytes.baseAddress, !bytes.isEmpty {
                    note(reconciled_easy_set_bytes(easy, CURLOPT_COPYPOSTFIELDS, start))
                } else {
                    set(CURLOPT_COPYPOSTFIELDS, "")
                }
            }
        }
        var lines = request.fields.all.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        // A line that ends with the colon takes out what libcurl would add: it waits a second for a 100
        // before larger bodies, and calls every body a web form.
        lines.append("Expect:")
        if request.fields["content-type"] == nil { lines.append("Content-Type:") }
        for line in lines {
            guard let extended = curl_slist_append(transfer.headerList, line) else {
                return note(CURLE_OUT_OF_MEMORY)
            }
            transfer.headerList = extended
        }
        note(reconciled_easy_set_list(easy, CURLOPT_HTTPHEADER, transfer.headerList))
    }

    private mutating func connection(_ limits: TimeLimits, _ configuration: CurlConfiguration) {
        set(CURLOPT_NOSIGNAL, 1)
        // The loop keeps the limits itself, each with its own meaning. This one is behind them, and makes
        // libcurl turn to the next address of a host after half of it.
        set(CURLOPT_CONNECTTIMEOUT_MS, (limits.connect + limits.tls).milliseconds)
        set(CURLOPT_HTTP_VERSION, configuration.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
        // With HTTP/2 a request waits for a connection being made rather than opening one of its own.
        set(CURLOPT_PIPEWAIT, configuration.http2 ? 1 : 0)
        set(CURLOPT_MAXAGE_CONN, Int(max(1, configuration.idleConnectionLife.components.seconds)))
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_TCP_KEEPIDLE, 30)
        set(CURLOPT_TCP_KEEPINTVL, 15)
        set(CURLOPT_TCP_FASTOPEN, 0)
        // Else removing a handle whose name is being resolved blocks the loop, and every other request with
        // it, until the resolver's thread returns.
        set(CURLOPT_QUICK_EXIT, 1)
    }

    private mutating func security(_ configuration: CurlConfiguration) {
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2)
        if let path = configuration.caBundlePath {
            set(CURLOPT_CAINFO, path)
            // Left alone, the directory that libcurl was built with would still be trusted beside the file.
            note(reconciled_easy_set_string(easy, CURLOPT_CAPATH, nil))
            // Else a file that was replaced counts a day later.
            note(reconciled_easy_set_ca_cache_timeout(easy, 10))
        }
        if let certificate = configuration.onlyCertificate {
            certificate.withUnsafeBytes { bytes in
                note(reconciled_easy_set_blob(easy, CURLOPT_CAINFO_BLOB, bytes.baseAddress, bytes.count))
            }
            note(reconciled_easy_set_string(easy, CURLOPT_CAINFO, nil))
            note(reconciled_easy_set_string(easy, CURLOPT_CAPATH, nil))
            // It is the certificate itself that is known, and no name.
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let own = configuration.clientCertificate {
            set(CURLOPT_SSLCERT, own.certificatePath)
            set(CURLOPT_SSLKEY, own.keyPath)
        }
    }

    private mutating func callbacks(_ transfer: Transfer) {
        let pointer = Unmanaged.passUnretained(transfer).toOpaque()
        note(reconciled_easy_set_write_callback(easy, CURLOPT_WRITEFUNCTION, TransferCallbacks.body))
        note(reconciled_easy_set_pointer(easy, CURLOPT_WRITEDATA, pointer))
        note(reconciled_easy_set_write_callback(easy, CURLOPT_HEADERFUNCTION, TransferCallbacks.header))
        note(reconciled_easy_set_pointer(easy, CURLOPT_HEADERDATA, pointer))
        note(reconciled_easy_set_prereq_callback(easy, TransferCallbacks.beforeRequest))
        note(reconciled_easy_set_pointer(easy, CURLOPT_PREREQDATA, pointer))
        note(reconciled_easy_set_open_socket_callback(easy, TransferCallbacks.openSocket))
        note(reconciled_easy_set_pointer(easy, CURLOPT_OPENSOCKETDATA, pointer))
        note(reconciled_easy_set_resolver_start_callback(easy, TransferCallbacks.resolverStart))
        note(reconciled_easy_set_pointer(easy, CURLOPT_RESOLVER_START_DATA, pointer))
        note(reconciled_easy_set_debug_callback(easy, TransferCallbacks.debug))
        note(reconciled_easy_set_pointer(easy, CURLOPT_DEBUGDATA, pointer))
        set(CURLOPT_VERBOSE, 1)
        note(reconciled_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, transfer.errorText))
    }

    private mutating func set(_ option: CURLoption, _ value: Int) {
        note(reconciled_easy_set_long(easy, option, value))
    }

    private mutating func set(_ option: CURLoption, _ value: String) {
        note(reconciled_easy_set_string(easy, option, value))
    }

    private mutating func note(_ code: CURLcode) {
        if refused == nil, code != CURLE_OK { refused = code }
    }
}

extension Duration {
    /// Whole milliseconds, rounded up, at least 1 and at most a day.
    var milliseconds: Int {
        let (seconds, attoseconds) = components
        guard seconds < 86_400 else { return 86_400_000 }
        guard seconds >= 0, attoseconds >= 0 else { return 1 }
        let partial = attoseconds / 1_000_000_000_000_000
        let rest = attoseconds % 1_000_000_000_000_000 == 0 ? 0 : 1
        return max(1, Int(seconds) * 1000 + Int(partial) + rest)
    }
}
