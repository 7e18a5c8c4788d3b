import Testing

/// The page of traps names a test through the real daemon for each; it is there.
@Suite struct TrapTests {
    @Test func `each trap of real providers has its test`() throws {
        let tree = try SourceTree.project.get()
        let page = try #require(tree.files.first { $0.path == "docs/providers/traps.md" })
        var traps = 0
        for line in page.content.split(separator: "\n") {
            let cells = line.split(separator: "|")
            guard cells.count == 3, !cells[0].hasPrefix("-"), cells[2].contains("`") else { continue }
            let parts = cells[2].split(separator: ": `", maxSplits: 1).map { String($0) }
            try #require(parts.count == 2, "\(line)")
            let test = String(parts[1].prefix { $0 != "`" })
            for suite in parts[0].split(separator: ",") {
                let path = "Tests/EndToEndTests/\(String(suite).trimmed).swift"
                let file = tree.files.first { $0.path == path }
                #expect(file?.content.contains("func `\(test)`") == true, "\(path) has no test `\(test)`")
            }
            traps += 1
        }
        #expect(traps >= 30)
    }
}
