internal import CLibPQ
internal import Reconciler

/// What the server said of a statement that it did not carry out.
struct PostgresError: Error, Sendable {
    /// Five characters that say what kind it is (documentation, "PostgreSQL Error Codes").
    let sqlState: String
    /// The server's primary message. It names tables and columns; of what is in them, at most a key.
    let message: String
    /// What is told beside it.
    let detail: String?
    /// The table that it is about, if it is about one.
    let table: String?
    /// `ERROR`, `FATAL`, `WARNING`, in English whatever the server's language.
    let severity: String

    /// Raised by our own functions where a group of changes cannot be made whole.
    static let groupRefused = "RC001"

    /// Raised where a write names a term that is over.
    static let termOver = "RC002"

    /// Raised where a term promises synchronous replication, and there is none.
    static let promiseBroken = "RC003"

    /// The error, or notice, of a result.
    init(of result: OpaquePointer) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        sqlState = field("C") ?? "08006"
        message = field("M") ?? "the connection was lost"
        detail = field("D")
        table = field("t")
        severity = field("V") ?? "ERROR"
    }

    /// Whether the session is of no use after it: the server only reads, is going down, or told it to end.
    var endsSession: Bool {
        severity == "FATAL" || severity == "PANIC" || sqlState == "25006" || sqlState.hasPrefix("57P")
            || sqlState.hasPrefix("08")
    }

    /// Whether the partition of a month appeared while an event of that month was on its way to where it would lie
    /// without one. The same statement finds it when it is sent again.
    var metNewPartition: Bool { sqlState == "23514" && table == "events_other" }

    func failure(_ operation: String) -> StoreFailure {
        StoreFailure(code, operation: operation, cause: "PostgreSQL \(sqlState): \(message)")
    }

    private var code: StoreFailure.Code {
        switch sqlState {
        case "40001", "40P01": .serialization
        case "55P03", "57014": .busy
        case "53100": .full
        case "XX001", "XX002": .corrupted
        case PostgresError.termOver: .inactive
        case PostgresError.promiseBroken: .unavailable
        case "42P01", "42703", "3F000": .incompatible
        default:
            switch sqlState.prefix(2) {
            // No connection, no resources, an operator who intervenes, a server that only reads, a failing disk.
            case "08", "53", "57", "25", "58": .unavailable
            default: .other
            }
        }
    }
}
