/// A set of routes, each written as its path, with `{id}` at the place of an identifier.
package protocol RoutePattern: CaseIterable, RawRepresentable where RawValue == String {}

extension RoutePattern {
    /// Finds the route of a path, and the text at the place of the identifier; empty where there is none.
    package static func find(_ path: Substring) -> (route: Self, id: String)? {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard parts.first == "" else { return nil }
        let rest = Array(parts.dropFirst())
        for route in allCases {
            let pattern = route.rawValue.split(separator: "/").map(String.init)
            guard pattern.count == rest.count else { continue }
            var id = ""
            let matches = zip(pattern, rest).allSatisfy { expected, found in
                guard expected == "{id}" else { return expected == found }
                id = found
                return !found.isEmpty
            }
            if matches { return (route, id) }
        }
        return nil
    }
}
