import HTTPTypes
import Hummingbird
import Testing

@testable import HTTPEdge

/// Problems as both listeners write them, and the media types that both take.
struct ProblemTests {
    @Test func `a problem is a document in a fixed order, with what its status asks of the headers`() {
        let refused = Answer(.methodNotAllowed(["GET", "POST"]))
        #expect(refused.contentType == "application/problem+json" && refused.status == 405)
        #expect(
            String(decoding: refused.body, as: UTF8.self) == """
                {"type":"/problems/invalid-request","title":"Method not allowed","status":405,\
                "detail":"Allowed: GET, POST.","retryable":false}
                """)
        #expect(refused.response().headers[.allow] == "GET, POST")
        #expect(Answer(.unauthorized).response().headers[.wwwAuthenticate] == "Bearer")
        #expect(Answer(.notFound).response().headers[.connection] == nil)
    }

    @Test func `a body that is not read to its end ends the connection`() {
        for problem in [Problem.bodyTooLarge(limit: 10), .incompleteBody("The body broke off.")] {
            #expect(Answer(problem).response().headers[.connection] == "close")
        }
    }

    @Test func `JSON in UTF-8 is taken, once named`() {
        for (values, isTaken) in [
            (["application/json"], true), (["Application/JSON; charset=\"UTF-8\""], true),
            (["application/json;profile=a"], true), (["application/json; charset=latin1"], false),
            (["text/plain"], false), ([], false), (["application/json", "application/json"], false),
        ] {
            var fields = HTTPFields()
            for value in values { fields.append(HTTPField(name: .contentType, value: value)) }
            #expect(HeaderValues(fields).announceJSON == isTaken, "\(values)")
        }
    }
}
