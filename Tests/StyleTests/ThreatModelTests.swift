import Foundation
import Testing

/// The threat model names the tests that show each defence; they are there.
@Suite struct ThreatModelTests {
    private static let page = "docs/threat-model.md"
    private let tree: SourceTree

    init() throws {
        tree = try SourceTree.project.get()
    }

    @Test func `each test that the threat model names is there`() throws {
        let page = try #require(tree.files.first { $0.path == Self.page })
        var named = 0
        for (index, line) in page.content.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 5, !cells[1].contains("could"), !cells[1].hasPrefix("-") else { continue }
            let names = cells[3].split(separator: "`", omittingEmptySubsequences: false)
                .enumerated().filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            #expect(!names.isEmpty || cells[3].contains("none"), "line \(index + 1) names no test")
            for name in names { #expect(isThere(name), "line \(index + 1): nothing is named \(name)") }
            named += names.count
        }
        #expect(named > 50)
    }

    private func isThere(_ name: String) -> Bool {
        if name.hasSuffix(".py") { return tree.files.contains { $0.path == "Tests/\(name)" } }
        if name.hasSuffix(".tftest") {
            return FileManager.default.fileExists(atPath: tree.root.appending(path: "terraform/tests/\(name).hcl").path)
        }
        if name.contains(where: \.isUppercase) {
            let parts = name.split(separator: "/")
            let found = tree.swiftFiles.filter { file in
                file.path.hasPrefix("Tests/\(parts.count == 2 ? "\(parts[0])/" : "")")
                    && file.path.hasSuffix("/\(parts[parts.count - 1]).swift")
            }
            // A name that two targets have says whose it is.
            return found.count == 1
        }
        // A rule of the manifests.
        return tree.files.contains {
            $0.path.hasPrefix("Tests/Deployment/") && $0.content.contains("plant(\"\(name)\"")
        }
    }
}
