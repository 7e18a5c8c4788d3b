internal import PaymentCore

/// A place in a listing as clients hold it: opaque, and good only for the listing and the filters of its making.
///
/// The check digits are no secret: a cursor opens nothing that its holder may not see. They find what was changed or
/// used with other filters.
package struct OpaqueCursor: Sendable {
    private let listing: [String]
    private let filters: [String?]

    /// The cursors of a listing, by its name and what it is a part of, with filters; `nil` stands for a filter that is
    /// not set.
    package init(of listing: String..., filters: [String?] = []) {
        self.listing = listing
        self.filters = filters
    }

    /// The cursor of a place. Its fields have no `|`.
    package func text(_ fields: [String]) -> String {
        Base64URL.encode(Array((fields + [check(fields)]).joined(separator: "|").utf8))
    }

    /// The fields of the place; `nil` unless the cursor is of this listing and these filters, and has so many.
    package func fields(_ text: String, count: Int) -> [String]? {
        guard (1...512).contains(text.utf8.count), let bytes = Base64URL.decode(text),
            let plain = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = plain.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        let fields = Array(parts.dropLast())
        guard fields.count == count, parts.last == check(fields) else { return nil }
        return fields
    }

    private func check(_ fields: [String]) -> String {
        let digest = Digest(of: listing + fields + filters.flatMap { $0.map { ["+", $0] } ?? ["-"] })
        return String(digest.hex.prefix(16))
    }
}
