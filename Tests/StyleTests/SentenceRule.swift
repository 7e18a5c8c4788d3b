/// Pages are for readers in a hurry: their sentences are short. Tables, code and headings do not count, and neither do
/// decision records, which are history.
enum SentenceRule {
    /// Half of a page's sentences have at most so many words.
    static let half = 13
    /// Nine of ten have at most so many.
    static let most = 22

    /// The pages with longer sentences.
    static func findings(in files: [SourceFile]) -> [Finding] {
        files.filter(isPage).compactMap { file in
            let found = sentences(of: file.lines).map { (text: $0, words: words($0)) }.filter { $0.words >= 3 }
                .sorted { $0.words < $1.words }
            guard let longest = found.last else { return nil }
            let half = (found[(found.count - 1) / 2].words + found[found.count / 2].words) / 2
            let most = found[found.count * 9 / 10].words
            guard half > SentenceRule.half || most > SentenceRule.most else { return nil }
            return Finding(
                file: file.path, line: nil,
                problem: "half of its sentences have \(half) words or more, a tenth \(most) or more; "
                    + "the longest begins: \(longest.text.prefix(60))",
                allowed: "\(SentenceRule.half) and \(SentenceRule.most)")
        }
    }

    private static func isPage(_ file: SourceFile) -> Bool {
        file.name.hasSuffix(".md") && !file.path.hasPrefix("docs/decisions/") && file.area != "Tests"
    }

    /// The sentences of a page, without what is code.
    static func sentences(of lines: [String]) -> [String] {
        paragraphs(of: lines).flatMap { split(plain($0)) }
    }

    private static func paragraphs(of lines: [String]) -> [String] {
        var found: [String] = []
        var present: [String] = []
        var isCode = false
        func end() {
            if !present.isEmpty { found.append(present.joined(separator: " ")) }
            present = []
        }
        for line in lines {
            var text = line.drop { $0 == " " || $0 == ">" }
            if text.hasPrefix("```") {
                isCode.toggle()
                end()
                continue
            }
            let isOther = ["#", "|", "---", "![", "<"].contains { text.hasPrefix($0) }
            if isCode || text.isEmpty || isOther {
                end()
                continue
            }
            if let mark = text.prefixMatch(of: /(?:[-*]|\d+\.)\s+/) {
                end()
                text = text[mark.range.upperBound...]
            }
            present.append(String(text))
        }
        end()
        return found
    }

    /// A link is its text, and code is one word.
    private static func plain(_ text: String) -> String {
        text.replacing(/`[^`]*`/, with: "CODE").replacing("**", with: "")
            .replacing(/\[([^\]]*)\]\([^)]*\)/) { $0.output.1 }
    }

    /// A sentence ends at a mark before a capital letter.
    private static func split(_ text: String) -> [String] {
        var found: [String] = []
        var rest = Substring(text)
        while let end = rest.firstMatch(of: /[.!?:]\s+(?=[A-Z0-9"“(\[])/) {
            found.append(String(rest[..<end.range.upperBound]))
            rest = rest[end.range.upperBound...]
        }
        return found + [String(rest)]
    }

    private static func words(_ sentence: String) -> Int { sentence.matches(of: /[\w'’-]+/).count }
}
