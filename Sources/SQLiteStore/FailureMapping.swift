internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import StoreRows

extension StoreFailure {
    /// The failure behind an error that a database operation threw before its transaction was committed: nothing of it
    /// was written.
    init(_ error: any Error, operation: String) {
        switch error {
        case let failure as StoreFailure:
            self = failure
        case let error as DatabaseError:
            self.init(StoreFailure.code(of: error), operation: operation, cause: StoreFailure.words(for: error))
        default:
            self.init(coding: error, operation: operation)
        }
    }

    /// The failure behind a COMMIT that failed.
    ///
    /// A flush that failed leaves the change in the write-ahead log, perhaps on the disk: the next start may find it
    /// whole. Every other failure means that its last frame was not written, and that it never happened.
    init(commit error: any Error) {
        self.init(error, operation: "commit")
        if let error = error as? DatabaseError, error.resultCode == .SQLITE_IOERR {
            self.init(.indeterminate, operation: "commit", cause: cause)
        }
    }

    private static func code(of error: DatabaseError) -> Code {
        switch error.resultCode {
        case .SQLITE_BUSY, .SQLITE_LOCKED: .busy
        case .SQLITE_FULL: .full
        case .SQLITE_IOERR, .SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_NOMEM: .unavailable
        // What a connection says that was closed.
        case .SQLITE_MISUSE: .unavailable
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: .corrupted
        default: .other
        }
    }

    /// SQLite's own words name tables and columns, never what is in them.
    private static func words(for error: DatabaseError) -> String {
        "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "no message")"
    }
}
