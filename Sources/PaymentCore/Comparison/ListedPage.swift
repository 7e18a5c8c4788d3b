/// One page of a provider's listing.
public struct ListedPage: Sendable, Hashable {
    /// The transactions, in the provider's order.
    public var positions: [ListedPosition]
    /// The provider's cursor of the next page; `nil` on the last.
    public var next: String?

    /// A page.
    public init(positions: [ListedPosition], next: String?) {
        self.positions = positions
        self.next = next
    }
}
