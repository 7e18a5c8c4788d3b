import Foundation
import Testing

/// The rules, applied to the tree that these tests were built from.
@Suite struct ProjectStyleTests {
    private let tree: SourceTree

    init() throws {
        tree = try SourceTree.project.get()
    }

    @Test func `the tree is read at all`() {
        let areas = Set(tree.swiftFiles.map(\.area))
        #expect(areas.isSuperset(of: ["Sources", "Tests", ""]))
        #expect(tree.swiftFiles.contains { $0.path == "Package.swift" })
    }

    @Test func `dependencies point inward only`() {
        report(ImportRule.project.findings(in: tree.files))
    }

    @Test func `lines can be read side by side`() {
        report(LengthRule.longLines(in: tree.files))
    }

    @Test(arguments: WordRule.project) func `nothing is unfinished or unchecked`(_ rule: WordRule) {
        report(rule.findings(in: tree.files))
    }

    @Test func `no task outlives the code that started it`() {
        report(TaskRule.findings(in: tree.files))
    }

    @Test func `names say what a thing is`() {
        report(NameRule.findings(in: tree.files))
    }

    @Test func `no path belongs to one machine`() {
        report(PathRule.findings(in: tree.files))
    }

    @Test func `no test sleeps and hopes`() {
        report(SleepRule.findings(in: tree.files))
    }

    @Test func `pages have short sentences`() {
        report(SentenceRule.findings(in: tree.files))
    }

    @Test func `every link leads to a place that is there, and every page is found from the index`() {
        let rule = LinkRule(tree.files) { path in
            FileManager.default.fileExists(atPath: tree.root.appending(path: path).path)
        }
        report(rule.broken())
        report(
            rule.unlinked(below: "docs", from: "docs/README.md") {
                $0.hasPrefix("docs/decisions/") && $0 != "docs/decisions/README.md"
            })
        report(rule.unlinked(below: "docs/decisions", from: "docs/decisions/README.md") { _ in false })
    }

    @Test func `Swift files have no tabs and end with one newline`() {
        report(FormRule.findings(in: tree.files))
    }

    @Test func `files and functions are short, public declarations explained, exceptions recorded`() throws {
        let location = tree.root.appending(path: "Tests/StyleTests/ratchet.json")
        let measured = Ratchet(measuring: tree.files)
        var recorded = try Ratchet.read(from: location)
        if ProcessInfo.processInfo.environment["UPDATE_RATCHET"] == "1" {
            let updated = recorded?.lowered(to: measured) ?? measured
            try updated.write(to: location)
            recorded = updated
        }
        let findings = (recorded ?? Ratchet()).findings(against: measured)
        report(findings)
        // The count of a target says that something is missing; these lines say where.
        let grown = Set(findings.map(\.file))
        report(DocumentationRule.findings(in: tree.files).filter { grown.contains($0.target) }.map(\.finding))
    }
}
