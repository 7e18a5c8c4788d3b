import Testing

@Suite struct SentenceRuleTests {
    private func found(_ content: String, in path: String = "docs/a.md") -> Int {
        SentenceRule.findings(in: [SourceFile(path: path, content: content)]).count
    }

    private func sentence(_ words: Int) -> String {
        "A" + String(repeating: " word", count: words - 1) + ". "
    }

    @Test func `long sentences are found, short ones are not`() {
        #expect(found(sentence(13)) == 0)
        #expect(found(sentence(14)) == 1)
        #expect(found(String(repeating: sentence(5), count: 8) + sentence(40)) == 1, "one of nine is too much")
        #expect(found(String(repeating: sentence(5), count: 11) + sentence(40)) == 0)
    }

    @Test func `tables, code, headings and decisions do not count`() {
        for mark in ["# ", "| ", "![x](y) ", "<!-- "] { #expect(found(mark + sentence(40)) == 0, "\(mark)") }
        #expect(found("```\n\(sentence(40))\n```\n") == 0)
        #expect(found(sentence(40), in: "docs/decisions/0001-a.md") == 0)
        #expect(found(sentence(40), in: "Sources/A/a.swift") == 0)
        #expect(found(sentence(40), in: "drills/README.md") == 1)
    }

    @Test func `items, code words and links`() {
        let page = ["- One `a b c` two.", "  Three [four five](x.md#six) seven: Eight.", "", "> 1. Nine."]
        #expect(
            SentenceRule.sentences(of: page).map { $0.split(separator: " ").count } == [3, 4, 1, 1],
            "\(SentenceRule.sentences(of: page))")
    }
}
