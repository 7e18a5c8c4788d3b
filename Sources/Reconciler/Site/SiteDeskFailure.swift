public import PaymentCore

/// Why the ``SiteDesk`` did not do what somebody asked.
public enum SiteDeskFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The promotion may not be, for these reasons; nothing was changed.
    case refused([PromotionObstacle])
    /// The database was promoted, and then something stood against the new term. Asked again, it goes on.
    case interrupted([PromotionObstacle])
    /// This site is not active, so that it can be neither drained nor demoted, and its mode not be set.
    case notActive(SiteName?)
    /// Somebody else changed the site at the same moment; look again.
    case overtaken
    /// Payments are still in work; the site goes on draining.
    case stillBusy(payments: Int)
    /// A text is empty or too long.
    case malformed(field: String)
    /// No recovery window of this term is open.
    case noSuchRecovery(open: [Int64])
    /// The store failed.
    case store(StoreFailure)

    public var description: String {
        switch self {
        case .refused(let obstacles):
            "the site is not promoted:\n" + obstacles.map { "  \($0.name): \($0)" }.joined(separator: "\n")
        case .interrupted(let obstacles):
            "the database was promoted, and the site is not yet active; ask again:\n"
                + obstacles.map { "  \($0.name): \($0)" }.joined(separator: "\n")
        case .notActive(let site):
            "this site is not active" + (site.map { "; by what is known here, \($0) is" } ?? "")
        case .overtaken: "the site was changed by somebody else at the same moment; look again"
        case .stillBusy(let payments): "the site is draining, and \(payments) payment(s) are still in work; ask again"
        case .malformed(let field): "\(field): allowed: 1 to \(SiteTerm.longestText) bytes"
        case .noSuchRecovery(let open):
            "no recovery window of this term is open; open: "
                + (open.isEmpty ? "none" : open.map(String.init).joined(separator: ", "))
        case .store(let failure): failure.description
        }
    }
}
