/// The path of a request and its query, as they stand in the request line.
package struct PathAndQuery: Sendable, Hashable {
    /// The path.
    package let path: Substring
    /// The query without its question mark; `nil` where there is none, or nothing in it.
    package let query: String?

    /// Takes the text of a request line apart.
    package init(_ target: String) {
        let question = target.firstIndex(of: "?") ?? target.endIndex
        path = target[..<question]
        let rest = target[question...].dropFirst()
        query = rest.isEmpty ? nil : String(rest)
    }
}
