import CLibCurl

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// What libcurl calls, always on the loop's thread.
///
/// None captures anything: each finds its transfer through the pointer that was registered with it, and the
/// loop keeps the transfer alive for as long as its handle is in use.
enum TransferCallbacks {
    private static func transfer(_ pointer: UnsafeMutableRawPointer) -> Transfer {
        Unmanaged<Transfer>.fromOpaque(pointer).takeUnretainedValue()
    }

    /// A new connection starts with a name that is not cached.
    ///
    /// Any other answer than 0 ends the transfer.
    static let resolverStart: curl_resolver_start_callback = { _, _, pointer in
        guard let pointer else { return 1 }
        return transfer(pointer).progress.connecting(.resolving, now: .now) ? 0 : 1
    }

    /// A socket for a new connection; one for each address that is tried.
    ///
    /// Refusing it here, and not only before the request, spares a whole new connection when libcurl wants to
    /// repeat a request on one.
    ///
    /// Refusing an address here leaves no gap: libcurl connects to these very bytes and resolves nothing in
    /// between. It then tries the next address. A request on a kept connection does not come by, and need not:
    /// the pool belongs to one sender, so the same rule let that connection through when it was opened.
    static let openSocket: curl_opensocket_callback = { pointer, _, address in
        guard let pointer, let address, let start = address.pointer(to: \.addr) else { return CURL_SOCKET_BAD }
        let wanted = address.pointee
        let transfer = transfer(pointer)
        // The address is longer than the member that holds its beginning; its length is told beside it.
        guard transfer.progress.connecting(.connecting, now: .now),
            transfer.mayConnect(to: IPAddress(UnsafeRawPointer(start), length: Int(wanted.addrlen)))
        else { return CURL_SOCKET_BAD }
        #if os(Linux)
            // Children that the daemon starts must not inherit a connection to a provider.
            return socket(wanted.family, wanted.socktype | Int32(SOCK_CLOEXEC.rawValue), wanted.`protocol`)
        #else
            return socket(wanted.family, wanted.socktype, wanted.`protocol`)
        #endif
    }

    /// The connection is ready, new or kept, and the request is written next.
    static let beforeRequest: curl_prereq_callback = { pointer, _, _, _, _ in
        guard let pointer else { return CURL_PREREQFUNC_ABORT }
        return transfer(pointer).progress.mayWrite(now: .now) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
    }

    /// Counts what was written, and sees the handshake begin.
    ///
    /// This is the one place where libcurl tells of each write just when it succeeded;
    /// `CURLINFO_REQUEST_SIZE` and `CURLINFO_SIZE_UPLOAD_T` both count a small body that left with the head.
    static let debug: curl_debug_callback = { _, kind, data, size, pointer in
        guard let pointer else { return 0 }
        switch kind {
        case CURLINFO_HEADER_OUT:
            let piece = UnsafeRawBufferPointer(start: data, count: size)
            transfer(pointer).progress.wroteHead(
                size, endsHead: piece.suffix(4).elementsEqual("\r\n\r\n".utf8))
        case CURLINFO_DATA_OUT:
            transfer(pointer).progress.wroteBody(size)
        case CURLINFO_SSL_DATA_OUT:
            // The only sign, while it happens, that TCP is connected: libcurl 7.88 sets
            // `CURLINFO_CONNECT_TIME_T` no earlier than the end of the handshake.
            transfer(pointer).progress.securing(now: .now)
        default:
            break
        }
        return 0
    }

    /// One header line of the answer.
    ///
    /// Another return value than the size ends the transfer.
    static let header: curl_write_callback = { data, size, count, pointer in
        guard let pointer else { return 0 }
        let transfer = transfer(pointer)
        let verdict = transfer.collector.header(UnsafeRawBufferPointer(start: data, count: size * count))
        return transfer.progress.received(verdict) ? size * count : 0
    }

    /// A piece of the answer's body.
    static let body: curl_write_callback = { data, size, count, pointer in
        guard let pointer else { return 0 }
        let transfer = transfer(pointer)
        let verdict = transfer.collector.append(UnsafeRawBufferPointer(start: data, count: size * count))
        return transfer.progress.received(verdict) ? size * count : 0
    }
}
