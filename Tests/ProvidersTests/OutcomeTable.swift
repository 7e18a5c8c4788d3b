import HTTPTransport

@testable import PaymentCore
@testable import Providers

/// The outcome of every answer to every change, written down row by row: one letter for each status.
///
/// `A` accepted, `D` declined, `R` refused, `T` throttled, `I` indeterminate.
struct OutcomeTable {
    /// The columns.
    ///
    /// A status is followed by `+` where the answer carries `Retry-After`.
    static let columns = [
        "200", "201", "202", "204", "302", "400", "401", "402", "403", "404", "405", "409", "410", "413", "415", "422",
        "429", "429+", "500", "502", "503", "503+", "504",
    ]

    /// A body, and its letters under `application/json` for transactions, under `application/problem+json`
    /// for problems.
    struct Row: Sendable {
        let name: String
        let letters: String
        let body: @Sendable (OrderBook, Int) throws -> String
        var isProblem = false
    }

    // The 2xx, 302, the 4xx up to 422, both 429, the 5xx.
    static let nothing = "IIII I IIIIIIIIIII II IIIII"
    static let done = "AAAA I IIAIIIAIIII II IIIII"
    static let declined = "DDDD I IIDIIIDIIII II IIIII"
    static let refusedBy409 = "IIII I IIIIIIRIIII II IIIII"
    static let laterBy409 = "IIII I IIIIIITIIII II IIIII"

    static func rows(for kind: EffectKind) -> [Row] { transactionRows(for: kind) + problemRows(for: kind) + junk }

    private static func transactionRows(for kind: EffectKind) -> [Row] {
        switch kind {
        case .authorize, .sale: primaryRows(kind)
        case .capture: movementRows(.capture)
        case .refund: movementRows(.refund)
        case .void: voidRows
        }
    }

    private static func row(
        _ name: String, _ letters: String, _ body: @escaping @Sendable (OrderBook) throws -> String
    ) -> Row {
        Row(name: name, letters: letters, body: { book, _ in try body(book) })
    }

    private static func primaryRows(_ kind: EffectKind) -> [Row] {
        func status(_ status: String, _ letters: String) -> Row {
            row(status, letters) {
                WireBodies.transaction(
                    status, key: try $0.key(kind), kind: kind.rawValue, reason: status == "declined" ? "no_funds" : nil)
            }
        }
        return [
            status("pending", done), status("authorized", done), status("captured", done),
            status("declined", declined), status("voided", refusedBy409), status("expired", refusedBy409),
            row("tombstoned", refusedBy409) { WireBodies.tombstone(key: try $0.key(kind)) },
            row("another amount", done) {
                WireBodies.transaction("authorized", key: try $0.key(kind), kind: kind.rawValue, value: 1201)
            },
            row("another key", nothing) {
                WireBodies.transaction("authorized", key: try $0.key(.refund), kind: kind.rawValue)
            },
        ]
    }

    private static func movementRows(_ kind: EffectKind) -> [Row] {
        func shown(_ state: String?, of status: String, other: String? = nil) -> @Sendable (OrderBook) throws -> String
        {
            { book in
                var movements: [String] = []
                if let state { movements.append(WireBodies.movement(try book.key(kind), state, reason: "why")) }
                let others = try other.map { [WireBodies.movement(try book.key(.sale, operation: "other"), $0)] } ?? []
                return WireBodies.transaction(
                    status, key: try book.key(.authorize), captures: kind == .capture ? movements + others : others,
                    refunds: kind == .refund ? movements : [])
            }
        }
        return [
            row("done", done, shown("succeeded", of: "captured")),
            row("pending", done, shown("pending", of: "authorized")),
            row("declined", declined, shown("declined", of: "authorized")),
            row("missing, authorized", refusedBy409, shown(nil, of: "authorized")),
            row("missing, captured", refusedBy409, shown(nil, of: "captured", other: "succeeded")),
            row("missing, voided", refusedBy409, shown(nil, of: "voided")),
            row("missing, expired", refusedBy409, shown(nil, of: "expired")),
            row("missing, declined", refusedBy409, shown(nil, of: "declined")),
            row("missing, tombstoned", refusedBy409) { WireBodies.tombstone(key: try $0.key(.authorize)) },
            row("missing, undecided", laterBy409, shown(nil, of: "pending")),
            row("missing, another capture undecided", laterBy409, shown(nil, of: "authorized", other: "pending")),
            row("another key", nothing) { book in
                WireBodies.transaction(
                    "captured", key: try book.key(.void),
                    captures: [WireBodies.movement(try book.key(kind), "succeeded")],
                    refunds: [WireBodies.movement(try book.key(kind), "succeeded")])
            },
        ]
    }

    private static var voidRows: [Row] {
        func status(_ status: String, _ letters: String) -> Row {
            row(status, letters) { WireBodies.transaction(status, key: try $0.key(.authorize)) }
        }
        return [
            status("voided", done), status("expired", done), status("declined", done),
            row("tombstoned", done) { WireBodies.tombstone(key: try $0.key(.authorize)) },
            status("authorized", refusedBy409), status("captured", refusedBy409), status("pending", laterBy409),
            row("a capture undecided", laterBy409) { book in
                WireBodies.transaction(
                    "authorized", key: try book.key(.authorize),
                    captures: [WireBodies.movement(try book.key(.capture), "pending")])
            },
            row("another key", nothing) { WireBodies.transaction("voided", key: try $0.key(.refund)) },
        ]
    }

    private static func problemRows(for kind: EffectKind) -> [Row] {
        let movement = kind == .capture || kind == .refund
        let primary = kind == .authorize || kind == .sale
        func letters(_ letter: Character, at column: String) -> String {
            String(columns.map { $0 == column ? letter : "I" })
        }
        func problem(_ type: String, _ letters: String) -> Row {
            Row(
                name: type, letters: letters, body: { _, status in WireBodies.problem(type, status: status) },
                isProblem: true)
        }
        return [
            problem("/problems/invalid-request", letters("R", at: "400")),
            problem("/problems/unknown-instrument", primary ? letters("R", at: "400") : nothing),
            problem("/problems/unauthorized", letters("R", at: "401")),
            problem("/problems/not-found", primary ? nothing : letters("R", at: "404")),
            problem("/problems/not-after-passed", nothing),
            problem("/problems/body-too-large", letters("R", at: "413")),
            problem("/problems/unsupported-media-type", letters("R", at: "415")),
            problem("/problems/key-reused", nothing),
            problem("/problems/amount-too-large", movement ? letters("R", at: "422") : nothing),
            problem("/problems/currency-mismatch", movement ? letters("R", at: "422") : nothing),
            problem("/problems/rate-limited", "IIII I IIIIIIIIIII TT IIIII"),
            problem("/problems/unavailable", letters("T", at: "503+")),
            problem("about:blank", "IIII I IIIRIRIIIII II IIIII"),
            Row(
                name: "a problem that names another status", letters: nothing,
                body: { _, status in WireBodies.problem("/problems/invalid-request", status: status + 1) },
                isProblem: true),
            Row(
                name: "a problem of nobody that names no status", letters: nothing,
                body: { _, _ in WireBodies.problem("about:blank", status: nil) }, isProblem: true),
        ]
    }

    private static var junk: [Row] {
        [
            row("empty", nothing) { _ in "" },
            row("html", nothing) { _ in WireBodies.html },
            row("null", nothing) { _ in "null" },
            row("an array", nothing) { _ in "[]" },
            row("an empty object", nothing) { _ in "{}" },
            row("a gateway's own JSON", nothing) { _ in #"{"message":"no Route matched with those values"}"# },
            row("status missing", nothing) {
                WireBodies.transaction("authorized", key: try $0.key(.authorize))
                    .replacing(#""status":"authorized","#, with: "")
            },
            row("status unknown", nothing) { WireBodies.transaction("settling", key: try $0.key(.authorize)) },
            row("cut off", nothing) {
                String(WireBodies.transaction("authorized", key: try $0.key(.authorize)).dropLast(30))
            },
        ]
    }
}
