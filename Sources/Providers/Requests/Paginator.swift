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
        private var watch = CursorWatch()

        fileprivate init(request: Request, client: ProviderClient) {
            self.request = request
            self.client = client
        }

        /// The next page; `nil` after the last.
        ///
        /// - Throws: why it could not be had. `cursor_does_not_advance` if following the cursors would never
        ///   end.
        mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ProviderCallFailure) -> Request.Response? {
            guard let current = request else { return nil }
            request = nil
            let page = try await client.perform(current)
            guard let cursor = page.nextCursor else { return page }
            guard !page.isEmpty, watch.isNew(cursor) else {
                throw ProviderCallFailure(code: "cursor_does_not_advance", operation: Request.label)
            }
            request = current.continued(from: cursor)
            return page
        }
    }
}

/// Notices that cursors go round in a circle of any length, remembering only one of them.
///
/// Cycle detection after Brent (BIT 20, 1980): the remembered one moves forward at every power of two.
struct CursorWatch: Sendable {
    private var remembered: String?
    private var steps = 0
    private var limit = 1

    /// Whether the cursor is not the remembered one.
    mutating func isNew(_ cursor: String) -> Bool {
        guard cursor != remembered else { return false }
        steps += 1
        if steps == limit {
            remembered = cursor
            steps = 0
            limit = limit > Int.max / 2 ? limit : limit * 2
        }
        return true
    }
}
