import Testing

@Suite struct LinkRuleTests {
    private func rule(_ pages: [String: String], files: Set<String> = []) -> LinkRule {
        LinkRule(pages.map { SourceFile(path: $0.key, content: $0.value) }) { files.contains($0) }
    }

    @Test func `a link to nothing is found, with its line`() {
        let pages = [
            "docs/one.md": "# One\n\n[two](two.md) [three](three.md) [there](../Sources/There.swift)\n",
            "docs/two.md": "# Two\n", "out.md": "[out](../docs/two.md)\n",
        ]
        let found = rule(pages, files: ["Sources/There.swift"]).broken()
        #expect(found.map(\.file) == ["docs/one.md", "out.md"] && found.map(\.line) == [3, 1])
        #expect(found.first?.problem.contains("three.md") == true)
    }

    @Test(arguments: [
        ("#two-words", true), ("#two-words-1", true), ("#two-words-2", false), ("#with-code-and-a-link", true),
        ("#a--b", true), ("#in-code", false),
    ])
    func `a link goes to a heading as GitHub names it`(anchor: String, isThere: Bool) {
        let page = """
            # Two words
            ## Two words
            ## With `code` and a [link](https://example.com)
            ## A & B
            ```
            # In code
            ```
            [here](\(anchor))
            """
        #expect(rule(["page.md": page]).broken().isEmpty == isThere)
    }

    @Test func `other sites and code are not looked at`() {
        let page = """
            [site](https://example.com/none.md) [mail](mailto:a@example.com) `[span](none.md)`
            ```
            [code](none.md)
            ```
            """
        #expect(rule(["page.md": page]).broken().isEmpty)
    }

    @Test func `a page that the index does not link is found`() {
        let pages = [
            "docs/README.md": "[one](one.md#part) [deep](deep/two.md)\n", "docs/one.md": "# Part\n",
            "docs/deep/two.md": "", "docs/lost.md": "", "docs/kept/three.md": "", "other.md": "",
        ]
        let found = rule(pages).unlinked(below: "docs", from: "docs/README.md") { $0.hasPrefix("docs/kept/") }
        #expect(found.map(\.file) == ["docs/lost.md"])
        #expect(rule([:]).unlinked(below: "docs", from: "docs/README.md") { _ in false }.count == 1)
    }
}
