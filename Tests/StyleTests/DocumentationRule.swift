/// Every declaration that another target sees says what it is.
enum DocumentationRule {
    /// The declarations without a doc comment, by target, where there are any.
    static func undocumented(in files: [SourceFile]) -> [String: Int] {
        Dictionary(grouping: findings(in: files), by: { $0.target }).mapValues(\.count)
    }

    /// The declarations without a doc comment, with the target of each.
    static func findings(in files: [SourceFile]) -> [(target: String, finding: Finding)] {
        files.filter { $0.area == "Sources" }.flatMap { file -> [(target: String, finding: Finding)] in
            guard let target = file.target, let swift = file.swift else { return [] }
            return undocumentedLines(in: swift).map { line in
                let declaration = swift.lines[line - 1].trimmed
                let finding = Finding(
                    file: file.path, line: line, problem: "no doc comment on: \(declaration)",
                    allowed: "a /// comment with meaning, units and errors")
                return (target, finding)
            }
        }
    }

    /// The lines, counted from 1, of public declarations that no doc comment precedes.
    static func undocumentedLines(in swift: SwiftText) -> [Int] {
        swift.code.indices.filter { isPublicDeclaration(swift.code[$0]) && !isDocumented(swift, at: $0) }
            .map { $0 + 1 }
    }

    private static func isPublicDeclaration(_ code: String) -> Bool {
        let words = code.split(separator: " ").drop { $0.hasPrefix("@") }
        guard let first = words.first, ["public", "package", "open"].contains(first) else { return false }
        if words.contains("import") || words.contains("extension") { return false }
        // Without one of these the word is a name, as in `open = false`.
        return words.contains { declarations.contains($0.prefix { $0.isLetter }) } && !isWitness(code)
    }

    private static let declarations: Set<Substring> = [
        "func", "init", "subscript", "var", "let", "struct", "class", "enum", "actor", "protocol",
        "typealias", "macro",
    ]

    /// Whether the declaration only carries out what a protocol of the standard library documents.
    private static func isWitness(_ code: String) -> Bool {
        [
            "func == ", "func < ", "func ==(", "func <(", "func hash(into ", "func encode(to ",
            "init(from decoder", "var description: String", "var debugDescription: String",
            "var customMirror: Mirror",
        ].contains { code.contains($0) }
    }

    /// Whether the line above is a doc comment, passing over attributes, conditions and other comments.
    private static func isDocumented(_ swift: SwiftText, at index: Int) -> Bool {
        for above in (0..<index).reversed() {
            let line = swift.lines[above].trimmed
            if line.hasPrefix("///") { return true }
            let isPassedOver = line.hasPrefix("@") || line.hasPrefix("//") || line.hasPrefix("#if")
            guard isPassedOver else { return false }
        }
        return false
    }
}

extension String {
    /// The string without spaces at its ends.
    var trimmed: String {
        let start = drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }
}
