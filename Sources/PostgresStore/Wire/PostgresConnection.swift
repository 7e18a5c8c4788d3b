internal import CLibPQ
internal import Foundation
internal import Logging
internal import Reconciler

/// One connection in pipeline mode, used by one thread at a time.
///
/// Statements leave together and are answered together: one round trip, whatever their number. Every wait has a
/// deadline, and passing it closes the connection: the server is never asked to cancel, because a commit whose wait for
/// the standby is cancelled answers as if all were well.
final class PostgresConnection {
    /// The end of a pipeline did not come: nothing is known of what was under way.
    struct Lost: Error {
        let cause: String
    }

    /// The number of the server's process, as the server itself says it: a pooler makes up another one.
    private(set) var process: Int64
    /// Whether a pooler is between: the number that came when it was connected is not that of the server's process.
    private(set) var isPooled = false
    /// Whether the server took no writes when the session began.
    var isStandby = false
    /// When it was connected.
    let openedAt = ContinuousClock.now
    private var connection: OpaquePointer?
    private let notices: NoticeBoard
    private let timeLimit: Duration
    private var prepared: [String: String] = [:]
    private var preparations = 0

    /// Connects. Blocks while names are resolved and hosts are tried in turn, at most as long as `connect_timeout` says
    /// for each.
    ///
    /// - Throws: ``StoreFailure`` with the code `unavailable`.
    init(_ login: Login, timeLimit: Duration, logger: Logger) throws(StoreFailure) {
        self.timeLimit = timeLimit
        notices = NoticeBoard(logger: logger)
        guard let opened = login.open() else {
            throw StoreFailure(.unavailable, operation: "connect", cause: "there is no memory for a connection")
        }
        guard PQstatus(opened) == CONNECTION_OK else {
            let words = PostgresConnection.words(opened)
            PQfinish(opened)
            throw StoreFailure(.unavailable, operation: "connect", cause: words)
        }
        connection = opened
        process = Int64(PQbackendPID(opened))
        _ = PQsetNoticeReceiver(opened, { NoticeBoard.receive($0, $1) }, Unmanaged.passUnretained(notices).toOpaque())
        guard PQsetnonblocking(opened, 1) == 0, PQenterPipelineMode(opened) == 1 else {
            let words = PostgresConnection.words(opened)
            close()
            throw StoreFailure(.unavailable, operation: "connect", cause: words)
        }
    }

    deinit { close() }

    /// The server says the number of its process.
    func sees(process seen: Int64) {
        isPooled = seen != process
        process = seen
    }

    /// Whether it can be used no more.
    var isBroken: Bool { connection == nil }

    /// Closes it. What the server was doing for it ends as the server sees fit.
    func close() {
        if let connection { PQfinish(connection) }
        connection = nil
    }

    /// libpq's words for what went wrong; they may name hosts and users, and never hold a password.
    private static func words(_ connection: OpaquePointer) -> String {
        let text = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
        return text.split(separator: "\n").joined(separator: "; ")
    }

    private func lost(_ connection: OpaquePointer) -> Lost { Lost(cause: PostgresConnection.words(connection)) }

    /// Finds out whether the server closed the connection while it was idle: what is sent on it then would be in doubt
    /// for no reason.
    func checkIdle() {
        guard let connection else { return }
        var wanted = pollfd(fd: PQsocket(connection), events: Int16(POLLIN), revents: 0)
        while poll(&wanted, 1, 0) > 0 {
            guard PQconsumeInput(connection) == 1, PQstatus(connection) == CONNECTION_OK else { return close() }
            // Reads what came. The server says why it ends a session before it closes the connection; to one that is
            // idle, that is a notice.
            _ = PQisBusy(connection)
            if notices.saysEnd { return close() }
        }
    }

    /// Sends statements as one pipeline and waits for its end. Without `BEGIN` they are one transaction.
    ///
    /// - Returns: what each returned, and the warnings that came meanwhile.
    /// - Throws: ``PostgresError`` of the first that failed; those after it were not carried out. ``Lost`` if the
    ///   connection ended or the time limit passed.
    @discardableResult
    func run(_ statements: [Statement]) throws -> (rows: [Rows], warnings: [String]) {
        guard let connection else { throw Lost(cause: "the connection is closed") }
        notices.clear()
        do {
            let plan = try send(statements, connection)
            let rows = try receive(plan, connection)
            return (rows, notices.warnings)
        } catch let error as PostgresError {
            // A server that only reads now is no place for a store: the next connection looks for another.
            if error.endsSession { close() }
            throw error
        } catch {
            close()
            throw error
        }
    }

    /// The rows of one statement.
    func rows(_ sql: String, _ parameters: [Parameter] = []) throws -> Rows {
        guard let rows = try run([Statement(sql, parameters)]).rows.first else {
            throw StoreFailure(.other, operation: "read", cause: "a statement returned nothing at all")
        }
        return rows
    }

    /// Runs several statements of one text, which cannot be prepared; outside of the pipeline, each on its own.
    func script(_ sql: String) throws {
        guard let connection else { throw Lost(cause: "the connection is closed") }
        guard PQexitPipelineMode(connection) == 1, PQsendQuery(connection, sql) == 1 else {
            defer { close() }
            throw lost(connection)
        }
        var failure: PostgresError?
        let deadline = ContinuousClock.now + timeLimit
        do {
            while true {
                try waitForResult(until: deadline, connection)
                guard let result = PQgetResult(connection) else { break }
                if PQresultStatus(result) == PGRES_FATAL_ERROR { failure = failure ?? PostgresError(of: result) }
                PQclear(result)
            }
        } catch {
            close()
            throw error
        }
        guard PQenterPipelineMode(connection) == 1 else { throw lost(connection) }
        if let failure { throw failure }
    }

    /// Waits for a notification on a channel that is listened to; `true` if one came, `false` if the time passed.
    func awaitNotification(for limit: Duration) throws -> Bool {
        guard let connection else { throw Lost(cause: "the connection is closed") }
        let deadline = ContinuousClock.now + limit
        var came = false
        repeat {
            while let notification = PQnotifies(connection) {
                PQfreemem(notification)
                came = true
            }
            if came { return true }
            try waitForInput(until: deadline, connection, wantsWriting: false)
        } while ContinuousClock.now < deadline
        return came
    }
}

extension PostgresConnection {
    private enum Step {
        case prepare(String)
        case execute
    }

    private func send(_ statements: [Statement], _ connection: OpaquePointer) throws -> [Step] {
        var plan: [Step] = []
        for statement in statements {
            let name: String
            if let known = prepared[statement.sql] {
                name = known
            } else {
                preparations += 1
                name = "s\(preparations)"
                let types = statement.parameters.map { Oid($0.type) }
                guard PQsendPrepare(connection, name, statement.sql, Int32(types.count), types) == 1 else {
                    throw lost(connection)
                }
                prepared[statement.sql] = name
                plan.append(.prepare(statement.sql))
            }
            guard execute(name, statement.parameters, connection) == 1 else { throw lost(connection) }
            plan.append(.execute)
        }
        guard PQpipelineSync(connection) == 1 else { throw lost(connection) }
        return plan
    }

    private func execute(_ name: String, _ parameters: [Parameter], _ connection: OpaquePointer) -> Int32 {
        // libpq copies all of it into its own buffer before it returns.
        var storage: [UInt8] = []
        storage.reserveCapacity(parameters.reduce(1) { $0 + max(1, $1.bytes?.count ?? 0) })
        var offsets: [Int?] = []
        for parameter in parameters {
            guard let bytes = parameter.bytes else {
                offsets.append(nil)
                continue
            }
            offsets.append(storage.count)
            storage += bytes
            // An empty value needs a place of its own as well.
            if bytes.isEmpty { storage.append(0) }
        }
        let lengths = parameters.map { Int32($0.bytes?.count ?? 0) }
        let formats = Array(repeating: Int32(1), count: parameters.count)
        return storage.withUnsafeBytes { raw in
            let base = raw.bindMemory(to: CChar.self).baseAddress
            let values = offsets.map { offset in offset.flatMap { base?.advanced(by: $0) } }
            return PQsendQueryPrepared(connection, name, Int32(parameters.count), values, lengths, formats, 1)
        }
    }

    private func receive(_ plan: [Step], _ connection: OpaquePointer) throws -> [Rows] {
        let deadline = ContinuousClock.now + timeLimit
        var rows: [Rows] = []
        var failure: PostgresError?
        var step = 0
        while true {
            try waitForResult(until: deadline, connection)
            // A command's results end with nothing; then those of the next begin.
            guard let result = PQgetResult(connection) else {
                guard PQstatus(connection) == CONNECTION_OK else { throw lost(connection) }
                continue
            }
            let status = PQresultStatus(result)
            if status == PGRES_PIPELINE_SYNC {
                PQclear(result)
                if let failure { throw failure }
                return rows
            }
            defer { step += 1 }
            if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
                if step < plan.count, case .execute = plan[step] {
                    rows.append(Rows(taking: result))
                } else {
                    PQclear(result)
                }
                continue
            }
            if status != PGRES_PIPELINE_ABORTED { failure = failure ?? PostgresError(of: result) }
            PQclear(result)
            // It is not there; it is prepared again under another name.
            if step < plan.count, case .prepare(let sql) = plan[step] { prepared[sql] = nil }
            guard PQstatus(connection) == CONNECTION_OK else { throw Lost(cause: failure?.message ?? "it ended") }
        }
    }

    private func waitForResult(until deadline: ContinuousClock.Instant, _ connection: OpaquePointer) throws {
        while PQisBusy(connection) == 1 {
            let unsent = PQflush(connection)
            guard unsent >= 0 else { throw lost(connection) }
            guard deadline > ContinuousClock.now else { throw Lost(cause: "no answer in time") }
            try waitForInput(until: deadline, connection, wantsWriting: unsent > 0)
        }
    }

    private func waitForInput(
        until deadline: ContinuousClock.Instant, _ connection: OpaquePointer, wantsWriting: Bool
    ) throws {
        let events = Int16(POLLIN) | (wantsWriting ? Int16(POLLOUT) : 0)
        var wanted = pollfd(fd: PQsocket(connection), events: events, revents: 0)
        let left = (deadline - ContinuousClock.now).components
        let milliseconds = left.seconds * 1_000 + left.attoseconds / 1_000_000_000_000_000
        let ready = poll(&wanted, 1, Int32(min(max(milliseconds, 1), 60_000)))
        guard ready >= 0 || errno == EINTR else { throw Lost(cause: "poll failed") }
        guard PQconsumeInput(connection) == 1 else { throw lost(connection) }
    }
}

/// Where a connection's notices go. The server says by a warning that a commit was not confirmed by the standby.
private final class NoticeBoard {
    private(set) var warnings: [String] = []
    /// Whether the server ended the session.
    private(set) var saysEnd = false
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    func clear() { warnings.removeAll() }

    static func receive(_ board: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {
        guard let board, let result else { return }
        let notices = Unmanaged<NoticeBoard>.fromOpaque(board).takeUnretainedValue()
        let notice = PostgresError(of: result)
        if notice.severity == "FATAL" || notice.severity == "PANIC" { notices.saysEnd = true }
        guard notice.severity == "WARNING" else { return }
        notices.warnings.append("\(notice.sqlState): \(notice.message)")
        notices.logger.warning("PostgreSQL warns", metadata: ["code": "\(notice.sqlState)", "is": "\(notice.message)"])
    }
}
