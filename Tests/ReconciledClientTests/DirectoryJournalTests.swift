import Foundation
import ReconciledClient
import Testing

/// A journal whose process may be killed at any moment, and which others use at the same time.
@Suite final class DirectoryJournalTests: Sendable {
    let directory = FileManager.default.temporaryDirectory.appending(path: "reconciled-\(UUID().uuidString)")
    let journal: DirectoryJournal

    init() throws { journal = try DirectoryJournal(directory) }

    deinit { try? FileManager.default.removeItem(at: directory) }

    private func operation(_ name: String, body: String = "{}", at seconds: Double = 0) throws -> StoredOperation {
        StoredOperation(
            key: try OperationKey(name), path: "/v1/payments", body: body,
            begunAt: Date(timeIntervalSince1970: 1_790_000_000 + seconds))
    }

    private var files: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() }
    }

    @Test func `what was begun first is kept, also by the next process`() throws {
        let first = try operation("a/create", body: #"{"note":"日本語/😀"}"#)
        #expect(try journal.begin(first) == (first, true))
        let next = try DirectoryJournal(directory)
        #expect(try next.begin(operation("a/create", body: "other", at: 9)) == (first, false))
        #expect(try next.unfinished() == [first])
    }

    @Test func `the oldest comes first, and what is finished is kept and not resumed`() throws {
        let names = ["c/create", "a/create", "b/refund-1"]
        for (place, name) in names.enumerated() { _ = try journal.begin(operation(name, at: Double(place))) }
        try journal.finish(OperationKey("a/create"))
        #expect(try journal.unfinished().map(\.key.text) == ["c/create", "b/refund-1"])
        #expect(try !journal.begin(operation("a/create", body: "anew")).isNew)
        try journal.finish(OperationKey("a/create"))
    }

    @Test func `what is forgotten may be begun anew`() throws {
        _ = try journal.begin(operation("a/create"))
        try journal.forget(OperationKey("a/create"))
        try journal.forget(OperationKey("never/begun"))
        let other = try operation("a/create", body: "other")
        #expect(try journal.begin(other) == (other, true))
    }

    @Test func `keys that no file could be named after are kept`() throws {
        for name in ["../../etc/passwd", ".", String(repeating: "x", count: 255), "a/create", "a%2Fcreate"] {
            #expect(try journal.begin(operation(name)).isNew)
        }
        #expect(try journal.unfinished().count == 5 && files.count == 5)
    }

    @Test func `of many who begin the same at once, all get what one of them stored`() async throws {
        let kept = try await withThrowingTaskGroup(of: (StoredOperation, Bool).self) { group in
            for number in 0..<64 {
                let operation = try operation("a/create", body: "\(number)")
                group.addTask { [directory] in try DirectoryJournal(directory).begin(operation) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(kept.map(\.0.body)).count == 1 && kept.filter(\.1).count == 1)
        #expect(try files.count == 1, "no partial file is left")
    }

    @Test func `a file that was being written when its process was killed is no operation`() throws {
        try Data(#"{"key": "a/cre"#.utf8).write(to: directory.appending(path: ".killed.partial"))
        #expect(try journal.unfinished().isEmpty)
    }

    @Test func `a file that cannot be read stops whoever needs it, and is not replaced`() throws {
        _ = try journal.begin(operation("a/create"))
        let file = directory.appending(path: try #require(try files.first))
        try Data("{".utf8).write(to: file)
        #expect(throws: ClientError.self) { try self.journal.begin(self.operation("a/create")) }
        #expect(throws: ClientError.self) { try self.journal.unfinished() }
        #expect(try Data(contentsOf: file) == Data("{".utf8))
    }

    @Test func `only what was finished long ago is removed`() throws {
        for name in ["a/create", "b/create"] { _ = try journal.begin(operation(name)) }
        try journal.finish(OperationKey("a/create"))
        try journal.removeFinished(before: Date(timeIntervalSinceNow: -60))
        #expect(try files.count == 3)
        try journal.removeFinished(before: Date(timeIntervalSinceNow: 60))
        #expect(try files.count == 1 && journal.unfinished().map(\.key.text) == ["b/create"])
    }

    @Test func `a mark that outlived its operation finishes no other one`() throws {
        _ = try journal.begin(operation("a/create"))
        try journal.finish(OperationKey("a/create"))
        let kept = try #require(try files.first { $0.hasSuffix(".json") })
        try FileManager.default.removeItem(at: directory.appending(path: kept))
        #expect(try journal.begin(operation("a/create", body: "anew")).isNew)
        #expect(try journal.unfinished().map(\.body) == ["anew"])
    }

    @Test func `nobody else may read what is kept`() throws {
        _ = try journal.begin(operation("a/create"))
        let file = directory.appending(path: try #require(try files.first))
        for (path, allowed) in [(directory.path, 0o700), (file.path, 0o600)] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == allowed)
        }
    }
}
