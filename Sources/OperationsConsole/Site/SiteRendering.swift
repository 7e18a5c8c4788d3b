public import PaymentCore
public import Reconciler
internal import StrictJSON

/// A site as a document of the operations API.
enum SiteRendering {
    static func site(_ site: SiteName, _ reading: SiteReading) -> JSONValue { .object(members(site, reading)) }

    /// What a promotion did, with the site as it is since.
    static func promoted(_ site: SiteName, _ promoted: SiteDesk.Promoted, _ reading: SiteReading) -> JSONValue {
        let began = promoted.row.term?.since ?? promoted.allowedAt
        let promotion: JSONValue = .members([
            "asked_at": .string(promoted.askedAt.rfc3339), "allowed_at": .string(promoted.allowedAt.rfc3339),
            "began_at": .string(began.rfc3339), "waited_ms": .integer((began - promoted.askedAt).milliseconds),
            "loss": .optional(promoted.loss?.rawValue),
        ])
        return .object(members(site, reading) + [JSONMember("promotion", promotion)])
    }

    static func term(_ term: SiteTerm) -> JSONValue {
        .members([
            "epoch": .integer(term.epoch), "site": .string(term.site.name), "since": .string(term.since.rfc3339),
            "beginning": .string(term.beginning.rawValue), "by": .string(term.by),
            "approved_by": .optional(term.approvedBy), "reason": .string(term.reason),
            "fenced_by": .optional(term.fencedBy), "data_loss_accepted": .optional(term.dataLossAccepted),
            "contracts_accepted": .optional(term.contractsAccepted),
        ])
    }

    static func obstacle(_ obstacle: PromotionObstacle) -> JSONValue {
        .members([
            "name": .string(obstacle.name), "detail": .string("\(obstacle)"), "passes": .bool(obstacle.passes),
        ])
    }

    private static func members(_ site: SiteName, _ reading: SiteReading) -> [JSONMember] {
        let row = reading.row
        let left = row.leaseUntil.map { max(0, ($0 - reading.now).milliseconds) }
        let document: KeyValuePairs<String, JSONValue> = [
            "site": .string(site.name), "role": .string(SiteRole(site, reading).rawValue),
            "store": .optional(reading.store?.text),
            "active_site": .optional(row.term?.site.name), "epoch": .integer(row.epoch),
            "phase": .string(row.phase.rawValue), "mode": .string(row.mode.rawValue),
            "term": row.term.map { term($0) } ?? .null,
            "proof": .string(row.proof.rawValue), "witness": .optional(row.witness?.identity.text),
            "replication": .string(row.replication.rawValue),
            "lease_until": .optional(row.leaseUntil?.rfc3339),
            "lease_left_ms": left.map { .integer($0) } ?? .null,
            "final_position": .optional(row.finalPosition?.text),
            "recoveries": .array(
                row.recoveries.map {
                    .members([
                        "epoch": .integer($0.epoch), "loss": .string($0.loss.rawValue), "at": .string($0.at.rfc3339),
                        "kept_until": .optional($0.keptUntil?.rfc3339),
                        "listing_compared": .bool($0.listingCompared),
                    ])
                }),
            "database": database(reading.database), "now": .string(reading.now.rfc3339),
        ]
        return document.map { JSONMember($0.key, $0.value) }
    }

    private static func database(_ database: SiteDatabase) -> JSONValue {
        .members([
            "writable": .bool(database.isWritable), "streaming": .bool(database.isStreaming),
            "received": .optional(database.received?.text), "replayed": .optional(database.replayed?.text),
            "written": .optional(database.written?.text), "replication": .string(database.replication.rawValue),
            "lag_bytes": database.lagBytes.map { .integer($0) } ?? .null,
            "lag_ms": database.lag.map { .integer($0.milliseconds) } ?? .null,
        ])
    }
}

/// What a site is, in one word, as its own database says.
public enum SiteRole: String, Sendable, Hashable, CaseIterable {
    /// Its term is the newest, and its database takes writes.
    case active
    /// It takes nothing new and finishes what is on the wire.
    case draining
    /// Its term is the newest, and is over.
    case stopped
    /// Another site is active, or its database takes no writes.
    case standby

    /// The role that a reading shows.
    public init(_ site: SiteName, _ reading: SiteReading) {
        guard reading.row.term?.site == site, reading.database.isWritable else {
            self = .standby
            return
        }
        switch reading.row.phase {
        case .active: self = .active
        case .draining: self = .draining
        case .drained, .demoted: self = .stopped
        }
    }
}

/// Documents of a site as one line of JSON each, for the command line.
public enum SiteDocument {
    /// The site.
    public static func line(_ site: SiteName, _ reading: SiteReading) -> String {
        text(SiteRendering.site(site, reading))
    }

    /// What a promotion did.
    public static func line(_ site: SiteName, _ promoted: SiteDesk.Promoted, _ reading: SiteReading) -> String {
        text(SiteRendering.promoted(site, promoted, reading))
    }

    /// A term.
    public static func line(_ term: SiteTerm) -> String { text(SiteRendering.term(term)) }

    /// What stands against a promotion.
    public static func line(_ obstacles: [PromotionObstacle]) -> String {
        text(.members(["obstacles": .array(obstacles.map(SiteRendering.obstacle))]))
    }

    private static func text(_ document: JSONValue) -> String { String(decoding: document.bytes, as: UTF8.self) }
}
