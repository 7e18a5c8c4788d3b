/// Every page of a list, one request for each, from the beginning or from a cursor.
///
/// After a failure the sequence has ended; whoever reads it holds the cursor of the last page and can begin a
/// new one there. Only one page is in memory at a time.
struct Paginator<Request: PaginatedRequest>: AsyncSequence, Sendable {
    typealias Element = Request.Response
    typealias Failure = ProviderCallFailure

    /// The question for the first page.
    let first: Request
    /// Who sends it.
    let client: ProviderClient

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(request: first, client: client) }

    /// The place in the list.
    struct AsyncIterator: AsyncIteratorProtocol {
        private var request: Request?
        private let client: ProviderClient

        fileprivate init(request: Request, client: ProviderClient) {
            self.request = request
            self.client = client
        }

        /// The next page; `nil` after the last.
        ///
        /// - Throws: why it could not be had.
        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ProviderCallFailure) -> Request.Response? {
            guard let current = request else { return nil }
            request = nil
            let page = try await client.perform(current)
            request = page.next.map { current.continued(from: $0) }
            return page
        }
    }
}
