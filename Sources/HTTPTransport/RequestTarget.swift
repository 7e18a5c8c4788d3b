/// What the transport needs to know of a URL: its scheme and its host.
///
/// Parsed here, and not by a URL type that accepts and repairs much, because whatever is unusual in it shall
/// be refused before libcurl sees it.
struct RequestTarget: Equatable {
    /// `true` for `https`.
    let secure: Bool
    /// Host and, if given, port.
    ///
    /// Safe to log: user information is refused.
    let authority: String

    /// - Parameter url: an absolute URL of visible ASCII. `nil` if it is anything else than `http` or
    ///   `https`, has no host, names a user, or has a fragment or a backslash.
    init?(_ url: String) {
        guard url.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\\") }) else {
            return nil
        }
        let rest: Substring
        if url.lowercased().hasPrefix("https://") {
            secure = true
            rest = url.dropFirst("https://".count)
        } else if url.lowercased().hasPrefix("http://") {
            secure = false
            rest = url.dropFirst("http://".count)
        } else {
            return nil
        }
        let host = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !host.isEmpty, !host.contains("@"), !host.hasPrefix(":"), !rest.contains("#") else {
            return nil
        }
        authority = String(host)
    }

    /// The reason why a request must not reach the wire, or `nil`.
    static func defect(of request: HTTPRequest, allowPlainHTTP: Bool) -> String? {
        guard let target = RequestTarget(request.url) else { return "the URL is not an absolute http(s) URL" }
        guard target.secure || allowPlainHTTP else { return "plain HTTP is not allowed" }
        guard request.limits.isValid else { return "a time limit is not greater than zero" }
        guard request.maximumResponseBytes >= 0 else { return "the response bound is negative" }
        guard request.method != .get || request.body.isEmpty else { return "a GET with a body" }
        if request.fields.firstInvalid != nil { return "a header field has an invalid name or value" }
        if request.fields.all.contains(where: { isFraming($0.name) }) {
            return "a header field that belongs to the transport"
        }
        return nil
    }

    private static let framing = [
        "content-length", "transfer-encoding", "connection", "host", "expect", "upgrade", "te", "trailer",
    ]

    private static func isFraming(_ name: String) -> Bool {
        framing.contains { HTTPFields.sameName($0, name) }
    }
}
