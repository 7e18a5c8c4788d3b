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
    /// No witness is configured.
    case noWitness
    /// The row knows a witness, and the one that is configured proves nothing.
    case witnessKnown(WitnessID, WitnessDoubt)
    /// The witness gave a site a right that this site's row does not know of.
    case witnessAhead(SiteName, epoch: Int64)
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
        case .noWitness: "no witness is configured: site.witness"
        case .witnessKnown(let known, let doubt):
            "the site's row knows the witness \(known), and the one that is configured proves nothing: \(doubt). If it "
                + "is to take that one's place, keep the other site from acting, and say how: --fenced-by TEXT"
        case .witnessAhead(let site, let epoch):
            "the witness gave site \(site) the right to term \(epoch), of which the row here does not know: promote "
                + "this site first (`reconciled site promote --fenced-by TEXT`)"
        case .store(let failure): failure.description
        }
    }
}
