import Testing

@testable import HTTPEdge

/// How a request line becomes a route: the same rule for both listeners.
struct RoutePatternTests {
    private enum Place: String, RoutePattern {
        case all = "/v1/things"
        case fixed = "/v1/things/fixed"
        case one = "/v1/things/{id}"
        case part = "/v1/things/{id}/part"
    }

    @Test func `a path finds its route and the identifier`() {
        for (path, route, id) in [
            ("/v1/things", Place.all, ""), ("/v1/things/a", .one, "a"), ("/v1/things/a/part", .part, "a"),
            ("/v1/things/fixed", .fixed, ""), ("/v1/things/%2F", .one, "%2F"),
        ] {
            let found = Place.find(path[...])
            #expect(found?.route == route && found?.id == id, "\(path)")
        }
    }

    @Test(arguments: [
        "", "/", "v1/things", "/v1/things/", "/v1//things", "/v1/things/a/", "/v1/things//part", "/V1/things",
        "/v1/things/a/part/b", "http://host/v1/things",
    ])
    func `any other path finds none`(_ path: String) {
        #expect(Place.find(path[...])?.route == nil)
    }

    @Test func `a query begins at the first question mark, and an empty one is none`() {
        for (target, path, query) in [
            ("/a", "/a", nil), ("/a?", "/a", nil), ("/a?b", "/a", "b"), ("/a?b?c", "/a", "b?c"), ("", "", nil),
        ] {
            let parts = PathAndQuery(target)
            #expect(parts.path == path[...] && parts.query == query, "\(target)")
        }
    }
}
