/// Names say what a thing is, not that it is a collection of leftovers.
enum NameRule {
    /// Words that no file and no type is named with.
    static let emptyWords = ["Utilit", "Utils", "Helper", "Manager"]

    /// The files of `Sources` and `Tests`, and the types declared in them, that have such a word in the name.
    static func findings(in files: [SourceFile]) -> [Finding] {
        files.filter { $0.area == "Sources" || $0.area == "Tests" }.flatMap { file -> [Finding] in
            let allowed = "a name from the field, for what it does"
            var result: [Finding] = []
            if isEmpty(file.path) {
                result.append(Finding(file: file.path, line: nil, problem: "an empty name", allowed: allowed))
            }
            for (index, line) in (file.swift?.code ?? []).enumerated() {
                guard let name = declaredType(line), isEmpty(name) else { continue }
                result.append(
                    Finding(
                        file: file.path, line: index + 1, problem: "a type named \(name)", allowed: allowed))
            }
            return result
        }
    }

    private static func isEmpty(_ name: String) -> Bool {
        emptyWords.contains { name.contains($0) }
    }

    /// The name of the type that a line of code declares.
    static func declaredType(_ line: String) -> String? {
        let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
        let kinds: Set<Substring> = ["struct", "class", "enum", "actor", "protocol", "typealias"]
        guard let kind = words.firstIndex(where: kinds.contains) else { return nil }
        return words.indices.contains(kind + 1) ? String(words[kind + 1]) : nil
    }
}
