import Foundation
import PostgresStore
import SQLiteStore
import Testing

/// The release notes against what is shipped.
@Suite struct ChangesPageTests {
    @Test func `the unreleased changes name the newest schemas`() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let sections = page.components(separatedBy: "\n## ")
        let unreleased = try #require(sections.first { $0.hasPrefix("Unreleased\n") })
        let migrated =
            "PostgreSQL is migrated to schema \(PostgresStore.newestMigration), SQLite to \(SQLiteStore.newestSchema)."
        #expect(unreleased.contains(migrated), "the page lacks: \(migrated)")
    }
}
