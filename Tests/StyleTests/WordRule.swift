/// Words that announce unfinished work, and constructs that give up what the compiler proves.
struct WordRule: CustomStringConvertible {
    /// The part of a file in which a word is looked for.
    enum Place {
        /// Anything in the file.
        case anywhere
        /// Comments of Swift files, and the whole of other text except web pages.
        case prose
        /// Swift code without its comments and strings.
        case code
    }

    /// The word; it is found where it is not part of a longer one.
    var word: String
    /// Where it is looked for.
    var place: Place
    /// Whether upper and lower case are the same.
    var ignoresCase = false
    /// The beginnings of paths where the word may stand.
    var permittedIn: [String] = []
    /// The areas in which the rule holds.
    var areas: Set<String> = ["Sources", "Tests", "scripts", "drills", "docs", ""]
    /// What to write instead.
    var instead: String

    /// The rules of this project.
    ///
    /// Words are put together, so that no check finds this list.
    static let project: [WordRule] = [
        WordRule(word: "TO" + "DO", place: .anywhere, instead: "finished work"),
        WordRule(word: "FIX" + "ME", place: .anywhere, instead: "finished work"),
        // As a string it is the currency code that means no currency.
        WordRule(word: "XX" + "X", place: .prose, instead: "finished work"),
        WordRule(word: "place" + "holder", place: .prose, ignoresCase: true, instead: "finished work"),
        WordRule(word: "for" + " now", place: .anywhere, ignoresCase: true, instead: "finished work"),
        WordRule(word: "try!", place: .code, instead: "try, or do and catch"),
        WordRule(word: "as!", place: .code, instead: "as?, with an error when it is nil"),
        WordRule(
            word: "@unchecked Sendable", place: .code, permittedIn: cWrappers,
            instead: "a type that the compiler can check; C wrappers with their proof in \(cWrapperList)"),
        WordRule(
            word: "nonisolated(unsafe)", place: .code,
            instead: "a let, an actor or a lock that the compiler knows"),
        WordRule(word: "readabilityHandler", place: .code, instead: "ProgramOutput, which says why"),
    ]

    private static let cWrappers = ["Sources/HTTPTransport/", "Sources/PostgresStore/"]
    private static var cWrapperList: String { cWrappers.joined(separator: " and ") }

    var description: String { word }

    /// The places where the word stands and must not.
    func findings(in files: [SourceFile]) -> [Finding] {
        files.filter(appliesTo).flatMap { file in
            searched(in: file).enumerated().compactMap { index, line in
                guard contains(line) else { return nil }
                return Finding(file: file.path, line: index + 1, problem: "\"\(word)\"", allowed: instead)
            }
        }
    }

    private func appliesTo(_ file: SourceFile) -> Bool {
        areas.contains(file.area) && !permittedIn.contains { file.path.hasPrefix($0) }
    }

    private func searched(in file: SourceFile) -> [String] {
        // In a page the same word may be an attribute or a selector.
        let isWebPage = ["html", "css", "js"].contains { file.path.hasSuffix("." + $0) }
        return switch place {
        case .anywhere: file.lines
        case .prose: file.swift?.comments ?? (isWebPage ? [] : file.lines)
        case .code: file.swift?.code ?? []
        }
    }

    private func contains(_ line: String) -> Bool {
        ignoresCase ? line.lowercased().containsWord(word.lowercased()) : line.containsWord(word)
    }
}

extension String {
    /// Whether `word` occurs and is not part of a longer word.
    func containsWord(_ word: String) -> Bool {
        !positions(ofWord: word).isEmpty
    }

    /// The positions just after each occurrence of `word` that is not part of a longer word.
    func positions(ofWord word: String) -> [Index] {
        let text = utf8
        let wanted = Array(word.utf8)
        guard let first = wanted.first, let last = wanted.last else { return [] }
        var result: [Index] = []
        var cursor = text.startIndex
        while let start = text[cursor...].firstIndex(of: first) {
            cursor = text.index(after: start)
            guard text[start...].starts(with: wanted) else { continue }
            let end = text.index(start, offsetBy: wanted.count)
            let continuesBefore = start > text.startIndex && isWordByte(text[text.index(before: start)])
            let continuesAfter = end < text.endIndex && isWordByte(text[end])
            if isWordByte(first) && continuesBefore || isWordByte(last) && continuesAfter { continue }
            result.append(end)
        }
        return result
    }
}
