internal import HTTPEdge
internal import HTTPTypes
internal import Hummingbird

/// Who looks at a page.
struct ConsoleGuest: Sendable {
    let person: Operator
    let formToken: String
    let visit: Visit
}

/// An answer of the console before it is written to the connection.
struct ConsoleAnswer: Sendable {
    var status: Int
    var contentType = "text/html; charset=utf-8"
    var body: [UInt8]
    /// Where the browser goes next.
    var location: String?
    var cookie: String?
    /// The name of a file that the browser saves it as.
    var fileName: String?
    var allow: String?
    var closesConnection = false
    /// Whether the browser may keep it for a while.
    var isKept = false

    /// A page.
    init(page: [UInt8], status: Int) {
        self.status = status
        body = page
    }

    /// A file that pages refer to.
    init(_ asset: ConsoleAsset) {
        self.init(page: asset.body, status: 200)
        contentType = asset.contentType
        isKept = true
    }

    /// Another page is to be looked at; what was sent is done.
    static func see(_ location: String, cookie: String? = nil) -> ConsoleAnswer {
        var answer = ConsoleAnswer(page: [], status: 303)
        answer.location = location
        answer.cookie = cookie
        return answer
    }

    /// Scripts, styles and pictures are our own files; no page is in a frame of others, and no form goes elsewhere.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
        form-action 'self'; base-uri 'none'; frame-ancestors 'none'
        """

    /// The answer as it goes over the wire.
    func response(_ visit: Visit) -> Response {
        var headers = HTTPFields()
        func set(_ name: String, _ value: String?) {
            guard let value, let name = HTTPField.Name(name) else { return }
            headers[name] = value
        }
        set("Content-Type", contentType)
        set("Cache-Control", isKept ? "private, max-age=300" : "no-store")
        set("X-Content-Type-Options", "nosniff")
        set("Content-Security-Policy", ConsoleAnswer.policy)
        set("Referrer-Policy", "same-origin")
        set("Cross-Origin-Opener-Policy", "same-origin")
        set("Cross-Origin-Resource-Policy", "same-origin")
        set("X-Frame-Options", "DENY")
        set("Location", location)
        set("Set-Cookie", cookie)
        set("Content-Disposition", fileName.map { "attachment; filename=\"\($0)\"" })
        set("Allow", allow)
        set("Connection", closesConnection ? "close" : nil)
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
