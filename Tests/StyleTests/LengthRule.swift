/// Files and functions that can be read at one sitting, lines that can be read side by side.
enum LengthRule {
    /// The most lines that a Swift file may have.
    static let fileLimit = 300
    /// The most lines between the braces of a function.
    static let functionLimit = 60
    /// The most characters of a line.
    static let lineLimit = 120

    /// The Swift files above the limit, by path, with their number of lines.
    static func longFiles(in files: [SourceFile]) -> [String: Int] {
        var result: [String: Int] = [:]
        for file in files where file.swift != nil && file.lines.count > fileLimit {
            result[file.path] = file.lines.count
        }
        return result
    }

    /// The functions above the limit with the number of lines of their bodies.
    ///
    /// The key is the path and the name; a second long function of the same name in a file is numbered.
    static func longFunctions(in files: [SourceFile]) -> [String: Int] {
        var result: [String: Int] = [:]
        for file in files {
            guard let swift = file.swift else { continue }
            for function in FunctionBody.all(in: swift) where function.length > functionLimit {
                let key = "\(file.path) \(function.name)"
                let number = (1...).first { result[numbered(key, $0)] == nil } ?? 1
                result[numbered(key, number)] = function.length
            }
        }
        return result
    }

    /// The lines of Swift files, scripts and drills that are too long.
    static func longLines(in files: [SourceFile]) -> [Finding] {
        files.filter { $0.swift != nil || ["scripts", "drills"].contains($0.area) && !$0.path.hasSuffix(".md") }.flatMap
        { file in
            file.lines.enumerated().compactMap { index, line in
                // A line without enough bytes needs no counting of characters, which is slow.
                guard line.utf8.count > lineLimit, line.count > lineLimit else { return nil }
                return Finding(
                    file: file.path, line: index + 1, problem: "the line has \(line.count) characters",
                    allowed: "\(lineLimit)")
            }
        }
    }

    private static func numbered(_ key: String, _ number: Int) -> String {
        number == 1 ? key : "\(key) (\(number))"
    }
}
