/// The identity of a witness: made once, when it is founded.
///
/// An empty database answers "free" to whoever asks, and so does the witness of another pair of sites. So only a
/// witness whose identity the site's row knows proves anything.
public struct WitnessID: Sendable, Hashable, Codable, CustomStringConvertible {
    /// `wit_` and 32 lowercase hexadecimal digits.
    public let text: String

    /// Reads an identity; `nil` if its form is wrong.
    public init?(text: String) {
        guard StoreID.isIdentity(text, "wit_") else { return nil }
        self.text = text
    }

    public var description: String { text }
}

/// The witness that a site's row knows, replicated with the row.
public struct KnownWitness: Sendable, Hashable, Codable {
    /// Which one.
    public var identity: WitnessID
    /// Since when, by the store's clock.
    public var since: Timestamp
    /// Who founded it.
    public var by: String
    /// Who or what kept the other site from acting, where another witness was known before.
    public var fencedBy: String?

    /// A witness.
    public init(identity: WitnessID, since: Timestamp, by: String, fencedBy: String? = nil) {
        self.identity = identity
        self.since = since
        self.by = by
        self.fencedBy = fencedBy
    }
}

/// What a witness holds: who it is, and who had the right last.
public struct WitnessContent: Sendable, Hashable {
    /// Who had the right last.
    public struct Right: Sendable, Hashable {
        /// The term.
        public var epoch: Int64
        /// The site.
        public var site: SiteName
        /// How long it runs, the skew included; zero or less if it is over.
        public var left: Span

        /// A right.
        public init(epoch: Int64, site: SiteName, left: Span) {
            self.epoch = epoch
            self.site = site
            self.left = left
        }
    }

    /// Its identity; `nil` if nobody founded it, or it lost what it knew.
    public var identity: WitnessID?
    /// Who had the right last; `nil` if nobody ever had it.
    public var right: Right?

    /// What is there.
    public init(identity: WitnessID?, right: Right?) {
        self.identity = identity
        self.right = right
    }

    /// What it proves to a site whose row knows a witness.
    public func evidence(for site: SiteName, knowing known: WitnessID?) -> PromotionEvidence.Witness {
        guard let known else { return .unproven(.notFounded) }
        guard let identity else { return .unproven(.empty(known)) }
        guard identity == known else { return .unproven(.other(identity, known: known)) }
        guard let right else { return .free(epoch: 0) }
        guard right.site != site else { return .own(epoch: right.epoch) }
        return right.left > .zero ? .held(for: right.left, epoch: right.epoch) : .free(epoch: right.epoch)
    }

    /// Why it takes nothing from a site whose row knows a witness; `nil` if it does. Until the row knows one, a witness
    /// that nobody founded takes what it is told, and one that was founded keeps the right of whoever has it: the row
    /// is about to hear of it.
    public func refusal(of site: SiteName, epoch: Int64, knowing known: WitnessID?) -> WitnessDoubt? {
        guard known != identity else { return nil }
        if let known { return identity.map { .other($0, known: known) } ?? .empty(known) }
        return right?.site == site && right?.epoch == epoch ? nil : .notFounded
    }
}

/// Why a witness that answers proves nothing.
public enum WitnessDoubt: Sendable, Hashable, CustomStringConvertible {
    /// The site's row knows none.
    case notFounded
    /// It is empty: it was made anew, or lost what it knew.
    case empty(WitnessID)
    /// It is another than the one that the row knows.
    case other(WitnessID, known: WitnessID)
    /// It knows less than the row: it was restored from a copy.
    case behind(epoch: Int64, row: Int64)

    public var description: String {
        switch self {
        case .notFounded:
            "the site's row knows no witness: found it at the active site, once (`reconciled site found-witness`)"
        case .empty(let known): "it is empty, and the site's row knows \(known)"
        case .other(let identity, let known): "it is \(identity), and the site's row knows \(known)"
        case .behind(let epoch, let row): "it knows term \(epoch), and the site's row term \(row)"
        }
    }
}
