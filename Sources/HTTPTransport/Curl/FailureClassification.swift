import CLibCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension Transfer {
    /// What libcurl's code means at the point which the transfer has reached.
    func failure(_ code: CURLcode, easy: UnsafeMutableRawPointer) -> TransportFailure {
        if let refusal = progress.refusal { return refused(refusal) }
        if progress.everyAddressWasRefused { return failure(.addressNotAllowed, "it leads to no allowed address") }
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            return failure(.nameNotResolved, words(code))
        case CURLE_COULDNT_CONNECT:
            return couldNotConnect(easy)
        case CURLE_OPERATION_TIMEDOUT:
            return failure(timeout, "libcurl's own limit")
        case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CRL_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_CLIENTCERT:
            return failure(.tlsFailure, words(code))
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2,
            CURLE_HTTP2_STREAM:
            return failure(progress.phase < .connected ? .tlsFailure : .connectionReset, words(code))
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
            // The same code is used for a scheme that is not allowed and for an answer of HTTP/0.9.
            return failure(progress.phase < .sending ? .invalidRequest : .malformedResponse, words(code))
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
            return failure(.malformedResponse, words(code))
        default:
            return failure(.other, words(code))
        }
    }

    private func refused(_ refusal: TransferProgress.Refusal) -> TransportFailure {
        switch refusal {
        case .expiredBeforeSend:
            failure(.expiredBeforeSend, "the connection was ready too late")
        case .resendOnDeadConnection:
            failure(.deadConnectionReused, "a kept connection died; the request was not repeated")
        case .responseTooLarge:
            failure(
                .responseTooLarge,
                "more than \(request.maximumResponseBytes) bytes of body, or too much header")
        case .malformedResponse:
            failure(.malformedResponse, "a header line without a name")
        }
    }

    private func couldNotConnect(_ easy: UnsafeMutableRawPointer) -> TransportFailure {
        var number = 0
        let known = reconciled_easy_get_long(easy, CURLINFO_OS_ERRNO, &number) == CURLE_OK && number != 0
        let reason =
            known ? String(cString: strerror(Int32(truncatingIfNeeded: number))) : "no address answered"
        return failure(number == Int(ETIMEDOUT) ? .connectTimeout : .connectionRefused, reason)
    }

    private var timeout: TransportFailure.Code {
        switch progress.phase {
        case .waiting, .resolving, .connecting: .connectTimeout
        case .securing, .connected: .tlsTimeout
        case .sending, .sent: .firstByteTimeout
        case .receiving, .complete: .totalTimeout
        }
    }

    /// libcurl's constant text for the code; its detailed message only while there is neither request nor
    /// answer that it could quote.
    private func words(_ code: CURLcode) -> String {
        let constant = String(cString: curl_easy_strerror(code))
        let detailed = String(cString: errorText)
        return progress.phase < .connected && !detailed.isEmpty ? detailed : constant
    }
}
