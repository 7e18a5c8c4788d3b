public import PaymentCore

/// The site of a store that only one site can have: a file on one machine. Its row never changes.
public struct SoleSite: Sendable {
    /// The row, and a database that nobody follows.
    public let reading: SiteReading

    /// The site of a store that is there since a moment.
    public init(_ site: SiteName, since moment: Timestamp) {
        let term = SiteTerm(
            epoch: 1, site: site, since: moment, beginning: .first, by: "reconciled",
            reason: "the store belongs to one site")
        reading = SiteReading(row: SiteRow(term: term), now: moment, database: SiteDatabase())
    }

    /// Why it cannot be promoted, drained or have another mode.
    public func refusal(_ operation: String) -> StoreFailure {
        StoreFailure(
            .incompatible, operation: operation,
            cause: "the store is a file on one machine and belongs to one site; a second site needs PostgreSQL")
    }
}
