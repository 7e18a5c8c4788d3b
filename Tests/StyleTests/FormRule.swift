/// The form of a text file that editors and diffs rely on.
enum FormRule {
    /// The Swift files that hold a tab, or do not end with exactly one newline.
    static func findings(in files: [SourceFile]) -> [Finding] {
        files.filter { $0.swift != nil }.flatMap { file -> [Finding] in
            var result = file.lines.enumerated().compactMap { index, line -> Finding? in
                guard line.utf8.contains(UInt8(ascii: "\t")) else { return nil }
                return Finding(file: file.path, line: index + 1, problem: "a tab", allowed: "4 spaces")
            }
            if !file.content.utf8.isEmpty, !file.content.hasSuffix("\n") || file.content.hasSuffix("\n\n") {
                result.append(
                    Finding(
                        file: file.path, line: file.lines.count, problem: "the end of the file",
                        allowed: "one newline"))
            }
            return result
        }
    }
}
