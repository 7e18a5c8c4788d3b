internal import GRDB
internal import PaymentCore
internal import Reconciler
internal import Testing

@testable internal import SQLiteStore

@Suite struct FailureMappingTests {
    private static let codes: [(ResultCode, StoreFailure.Code)] = [
        (.SQLITE_BUSY, .busy), (.SQLITE_BUSY_SNAPSHOT, .busy), (.SQLITE_LOCKED, .busy), (.SQLITE_FULL, .full),
        (.SQLITE_IOERR_WRITE, .unavailable), (.SQLITE_CANTOPEN, .unavailable), (.SQLITE_READONLY, .unavailable),
        (.SQLITE_MISUSE, .unavailable), (.SQLITE_CORRUPT, .corrupted), (.SQLITE_NOTADB, .corrupted),
        (.SQLITE_CONSTRAINT_UNIQUE, .other), (.SQLITE_ERROR, .other),
    ]

    @Test(arguments: codes)
    func `each of SQLite's codes has its failure`(_ code: ResultCode, _ expected: StoreFailure.Code) {
        let failure = StoreFailure(DatabaseError(resultCode: code, message: "words"), operation: "test")
        #expect(failure.code == expected)
        #expect(failure.operation == "test")
        #expect(failure.cause == "SQLite \(code.rawValue): words")
    }

    @Test(arguments: codes)
    func `only a flush that failed leaves a commit in doubt`(_ code: ResultCode, _ expected: StoreFailure.Code) {
        let failure = StoreFailure(commit: DatabaseError(resultCode: code, message: "words"))
        #expect(failure.code == (code.primaryResultCode == .SQLITE_IOERR ? .indeterminate : expected))
    }

    @Test func `a failure says nothing of what was stored`() {
        let error = DatabaseError(
            resultCode: .SQLITE_CONSTRAINT, message: "CHECK constraint failed", sql: "INSERT INTO payments …",
            arguments: ["tok_secret"])
        #expect(!StoreFailure(error, operation: "test").description.contains("tok_secret"))
    }

    @Test func `a stored name that is malformed is damage`() {
        let error = #expect(throws: MalformedName.self) { try CallerID("No Name") }
        #expect(error.map { StoreFailure($0, operation: "test").code } == .corrupted)
    }
}
