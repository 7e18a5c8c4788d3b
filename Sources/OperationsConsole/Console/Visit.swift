internal import HTTPEdge
internal import Hummingbird

/// A request to the console, as far as its head tells.
struct Visit: Sendable {
    /// The name of the cookie that names a session.
    static let cookieName = "reconciled_session"

    let method: String
    let path: String
    let query: String?
    /// The route, and the text at the place of its identifier.
    let found: (route: ConsoleRoute, id: String)?
    /// The token of a session that came with it, whether one is known or not.
    let sessionToken: String?
    /// Whether the browser says that another site's page led here.
    let isOfOthers: Bool
    /// Whether nothing says that a page of another origin sent it.
    let isOfOurPages: Bool
    /// Whether a page looks at itself again, and nobody asked.
    let isRefresh: Bool
    /// Whether a form came in a body.
    let announcesForm: Bool
    /// Whether the browser reaches us over TLS: ours, or that of a proxy before us.
    private let isSecure: Bool

    init(_ request: Request, _ target: PathAndQuery, isEncrypted: Bool) {
        let headers = HeaderValues(request.headers)
        method = request.method.rawValue
        path = String(target.path)
        query = target.query
        found = ConsoleRoute.found(target.path)
        sessionToken = Visit.cookie(in: headers.all("cookie"))
        let site = headers.all("sec-fetch-site").first
        isOfOthers = site == "cross-site" || site == "same-site"
        // A browser sends one of both with each form; the second also over plain HTTP. A program that sends neither has
        // no cookies of others.
        let origin = headers.all("origin").first
        let host = request.head.authority ?? headers.all("host").first ?? ""
        isOfOurPages =
            site.map { $0 == "same-origin" || $0 == "none" }
            ?? origin.map { $0 == "http://\(host)" || $0 == "https://\(host)" } ?? true
        let type = headers.all("content-type").first?.lowercased() ?? ""
        let media = type.split(separator: ";").first.map { String($0).trimmed }
        announcesForm = media == "application/x-www-form-urlencoded"
        isRefresh = headers.all("x-refresh").first == "1"
        isSecure = isEncrypted || headers.all("x-forwarded-proto").first == "https"
    }

    private static func cookie(in values: [String]) -> String? {
        for value in values {
            for pair in value.split(separator: ";") {
                let parts = pair.drop(while: { $0 == " " }).split(separator: "=", maxSplits: 1)
                if parts.count == 2, parts[0] == cookieName[...] { return String(parts[1]) }
            }
        }
        return nil
    }

    /// Where whoever signs in first is led to: this page.
    var next: String { Visit.safe(query.map { "\(path)?\($0)" } ?? path) }

    /// Where the sign-in page was asked to lead to.
    var asked: String {
        do {
            return Visit.safe(try QueryParameters(query, allowed: ["next"], unsearched: ["next"])["next"])
        } catch {
            return "/console/"
        }
    }

    /// A page of the console; its first one for anything else.
    static func safe(_ next: String?) -> String {
        guard let next, next.hasPrefix("/console"), serves(next), next.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            !next.contains("\\"), !next.contains("//")
        else { return "/console/" }
        return next
    }

    private static func serves(_ next: String) -> Bool {
        let path = next.prefix { $0 != "?" }
        guard let found = ConsoleRoute.found(path), !found.route.isOpen else { return false }
        return found.route.methods.contains("GET")
    }

    /// The value of `Set-Cookie`: a session until the browser ends, or its end. No script and no page of others sees
    /// it.
    func cookie(_ session: String?) -> String {
        let end = session == nil ? "; Max-Age=0" : ""
        return "\(Visit.cookieName)=\(session ?? ""); Path=/console; HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "") + end
    }
}

extension String {
    /// The text as a value in a query.
    var percentEncoded: String {
        let hex = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
