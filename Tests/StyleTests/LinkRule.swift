/// A reader who follows a link comes to a place that is there, and finds every page from the index.
struct LinkRule {
    /// A link of a page, as it is written.
    struct Link: Equatable {
        let line: Int
        let path: String
        /// The heading that it goes to; `nil` for the page.
        let anchor: String?
    }

    /// Every page by its path.
    private let pages: [String: SourceFile]
    /// The anchors of every page.
    private let anchors: [String: Set<String>]
    /// Whether there is a file or directory at a path from the root.
    private let exists: (String) -> Bool

    init(_ files: [SourceFile], exists: @escaping (String) -> Bool) {
        let pages = files.filter { $0.name.hasSuffix(".md") }
        self.pages = Dictionary(pages.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        anchors = self.pages.mapValues { LinkRule.anchors(of: $0.lines) }
        self.exists = exists
    }

    /// Links that lead nowhere.
    func broken() -> [Finding] {
        pages.values.sorted { $0.path < $1.path }.flatMap { page in
            LinkRule.links(in: page.lines).compactMap { link in
                problem(of: link, on: page).map {
                    Finding(file: page.path, line: link.line, problem: $0, allowed: "a link to what is there")
                }
            }
        }
    }

    /// Pages below a directory that its index does not link.
    func unlinked(below directory: String, from index: String, except isElsewhere: (String) -> Bool) -> [Finding] {
        guard let page = pages[index] else {
            return [
                Finding(file: index, line: nil, problem: "there is no index", allowed: "a page that links the others")
            ]
        }
        let linked = Set(LinkRule.links(in: page.lines).map { LinkRule.target($0.path, from: index) })
        return pages.keys.sorted().filter { path in
            path.hasPrefix(directory + "/") && path != index && !isElsewhere(path) && !linked.contains(path)
        }.map { Finding(file: $0, line: nil, problem: "\(index) does not link it", allowed: "a line in the index") }
    }

    private func problem(of link: Link, on page: SourceFile) -> String? {
        let target = link.path.isEmpty ? page.path : LinkRule.target(link.path, from: page.path)
        guard pages[target] != nil || exists(target) else { return "it links \(link.path), which is not there" }
        guard let anchor = link.anchor else { return nil }
        let file = pages[target] == nil ? target + "/README.md" : target
        guard let known = anchors[file], !known.contains(anchor) else { return nil }
        return "it links #\(anchor) of \(file), which has no such heading"
    }

    // MARK: Reading pages

    /// Where a relative link leads, from the root.
    static func target(_ path: String, from page: String) -> String {
        var parts = path.hasPrefix("/") ? [] : Array(page.split(separator: "/").dropLast())
        for part in path.split(separator: "/") {
            switch part {
            case ".": continue
            // A link out of the project stays one, and leads nowhere.
            case "..": if parts.popLast() == nil { parts.append("..") }
            default: parts.append(part)
            }
        }
        return parts.joined(separator: "/")
    }

    /// The links to places of the project; those to other sites are not looked at.
    static func links(in lines: [String]) -> [Link] {
        prose(lines).flatMap { number, line in
            line.matches(of: /\]\(([^)\s]+)(?:\s+"[^"]*")?\)/).compactMap { match -> Link? in
                let target = match.output.1
                guard target.prefixMatch(of: /[a-z][a-z+.-]*:/) == nil else { return nil }
                let parts = target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
                let anchor = parts.count > 1 ? String(parts[1]) : nil
                return Link(line: number, path: String(parts[0]), anchor: anchor)
            }
        }
    }

    /// The anchors of a page's headings, as GitHub makes them.
    static func anchors(of lines: [String]) -> Set<String> {
        var found: Set<String> = []
        for (_, line) in prose(lines) {
            guard let heading = line.wholeMatch(of: /#{1,6}\s+(.*?)\s*#*/) else { continue }
            let text = heading.output.1.replacing(/\[([^\]]*)\]\([^)]*\)/) { String($0.output.1) }
            let slug = String(
                text.lowercased().compactMap { character -> Character? in
                    if character == " " { return "-" }
                    return character.isLetter || character.isNumber || "-_".contains(character) ? character : nil
                })
            var name = slug
            var copies = 0
            while found.contains(name) {
                copies += 1
                name = "\(slug)-\(copies)"
            }
            found.insert(name)
        }
        return found
    }

    /// The numbered lines that are not code.
    private static func prose(_ lines: [String]) -> [(Int, String)] {
        var isCode = false
        return lines.enumerated().compactMap { index, line in
            if line.drop(while: { $0 == " " || $0 == ">" }).hasPrefix("```") {
                isCode.toggle()
                return nil
            }
            // What looks like a link in a code span is none; a link's text may be a code span.
            return isCode ? nil : (index + 1, line.replacing(/`[^`]*\]\([^`]*`/, with: ""))
        }
    }
}
