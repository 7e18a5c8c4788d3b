package import Hummingbird

/// The values of a request's headers, by lowercase name.
package struct HeaderValues: Sendable {
    private let fields: HTTPFields

    /// The headers of a request.
    package init(_ fields: HTTPFields) {
        self.fields = fields
    }

    /// All values of a header, in their order.
    package func all(_ name: String) -> [String] {
        fields.filter { $0.name.canonicalName == name }.map(\.value)
    }

    /// Whether the body is JSON in UTF-8 by its media type.
    package var announceJSON: Bool {
        let values = all("content-type")
        guard values.count == 1, let value = values.first else { return false }
        let parts = value.lowercased().split(separator: ";").map { part in
            String(part.filter { $0 != " " && $0 != "\t" && $0 != "\"" })
        }
        guard parts.first == "application/json" else { return false }
        return parts.dropFirst().allSatisfy { !$0.hasPrefix("charset=") || $0 == "charset=utf-8" }
    }
}
