import PaymentCore
import Reconciler

/// A provider that lists transactions page by page, and of which a test says what goes wrong.
actor ListedProvider: PaymentProvider, ListingProvider {
    /// Is asked before each page; a failure takes the page's place.
    typealias Hook = @Sendable (ListingOrder) async -> ListingFailure?

    nonisolated let name: ProviderName
    nonisolated let contract = ProviderContract.reference
    nonisolated var listing: (any ListingProvider)? { self }
    private let transactions: [ListedPosition]
    private var before: Hook = { _ in nil }
    /// The pages that were asked for.
    private(set) var orders: [ListingOrder] = []

    /// - Parameter transactions: in the order in which they changed.
    init(_ name: ProviderName, _ transactions: [ListedPosition]) {
        self.name = name
        self.transactions = transactions
    }

    func beforeEachPage(_ hook: @escaping Hook) { before = hook }

    /// The cursors that were asked for, from a place on.
    func cursors(from index: Int = 0) -> [String?] { orders.dropFirst(index).map(\.cursor) }

    func list(_ order: ListingOrder) async throws(ListingFailure) -> ListedPage {
        orders.append(order)
        if let failure = await before(order) { throw failure }
        let listed = transactions.filter { $0.updatedAt.map(order.window.contains) ?? false }
        let from = order.cursor.flatMap { Int($0) } ?? 0
        let page = Array(listed.dropFirst(from).prefix(order.limit))
        let next = from + page.count
        return ListedPage(positions: page, next: next < listed.count ? String(next) : nil)
    }

    func find(_ question: KeyQuestion) -> KeyAnswer {
        transactions.first { $0.key == question.key }.map { .shown($0, isListed: nil) } ?? .absent
    }

    func send(_ order: SendOrder) -> AttemptReport { AttemptReport(.unsent, code: "not_here") }

    func inquire(_ order: InquiryOrder) -> Observation {
        Observation(.unavailable, began: RunnerStage.start, source: .inquiry)
    }
}
