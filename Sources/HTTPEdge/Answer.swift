internal import HTTPTypes
package import Hummingbird
package import StrictJSON

/// An answer before it is written to the connection.
package struct Answer: Sendable, Hashable {
    /// The media type of documents.
    package static let jsonType = "application/json"
    /// The media type of problems.
    package static let problemType = "application/problem+json"

    /// The HTTP status.
    package var status: Int
    /// The media type of the body.
    package var contentType: String
    /// The body.
    package var body: [UInt8]
    /// Where to read what was made.
    package var location: String?
    /// When to come again, in whole seconds.
    package var retryAfter: Int?
    /// The answer was made by an earlier request.
    package var isReplayed = false
    /// Until when what was read is known to be complete, where it is not all there is.
    package var asOf: String?
    /// The wait that was asked for and applied, in seconds.
    package var appliedWait: Int?
    /// The methods that the route takes, with 405.
    package var allow: String?
    /// The connection ends after the answer, because the rest of the request is not read.
    package var closesConnection = false

    /// A document.
    package init(_ status: Int, _ json: JSONValue, location: String? = nil) {
        self.init(status, contentType: Answer.jsonType, body: json.bytes)
        self.location = location
    }

    /// A page of a listing, and where the next one begins.
    package static func page(_ items: [JSONValue], next: String?) -> Answer {
        Answer(200, .members(["data": .array(items), "next_cursor": .optional(next)]))
    }

    /// A problem.
    package init(_ problem: Problem) {
        self.init(problem.status, contentType: Answer.problemType, body: problem.json.bytes)
        retryAfter = problem.retryAfter
        allow = problem.allow
        closesConnection = problem.closesConnection
    }

    /// Bytes of another type.
    package init(_ status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }

    /// The answer as it goes over the wire, under the name that the log has for the request, if it has one.
    package func response(requestID: String? = nil) -> Response {
        var headers = HTTPFields()
        func set(_ name: String, _ value: String?) {
            guard let value, let name = HTTPField.Name(name) else { return }
            headers[name] = value
        }
        set("Content-Type", contentType)
        set("Cache-Control", "no-store")
        set("X-Content-Type-Options", "nosniff")
        set("X-Request-Id", requestID)
        set("Location", location)
        set("Retry-After", retryAfter.map { String($0) })
        set("Preference-Applied", appliedWait.map { "wait=\($0)" })
        set("As-Of", asOf)
        set("Idempotent-Replayed", isReplayed ? "true" : nil)
        set("Allow", allow)
        set("WWW-Authenticate", status == 401 ? "Bearer" : nil)
        set("Connection", closesConnection ? "close" : nil)
        return Response(
            status: HTTPResponse.Status(code: status), headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}
