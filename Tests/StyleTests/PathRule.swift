/// The project knows no machine: its paths are relative or come from outside.
enum PathRule {
    /// Directories that exist on one machine only, put together so that the rule does not find itself.
    static let machineDirectories = ["home", "root", "work"].map { "/" + $0 + "/" }
    /// The directory for temporary files, which belongs to the environment.
    static let temporaryDirectory = "/" + "tmp/"

    /// The machine paths in any file, and temporary ones in code and scripts.
    static func findings(in files: [SourceFile]) -> [Finding] {
        files.flatMap { file in
            file.lines.enumerated().flatMap { index, line in
                directories(for: file).filter { names($0, in: line) }.map { directory in
                    Finding(
                        file: file.path, line: index + 1, problem: "the machine path \(directory)",
                        allowed: "a path from the configuration, the environment or the root of the project")
                }
            }
        }
    }

    private static func directories(for file: SourceFile) -> [String] {
        let isCode = ["Sources", "Tests", "scripts", "drills"].contains(file.area)
        return machineDirectories + (isCode ? [temporaryDirectory] : [])
    }

    /// Whether an absolute path that begins with `directory` stands in the line; parts of a URL do not count.
    static func names(_ directory: String, in line: String) -> Bool {
        var rest = line[...]
        while let found = rest.firstRange(of: directory) {
            guard let previous = line[..<found.lowerBound].last else { return true }
            if !previous.isLetter && !previous.isNumber && !"_-./}~$*".contains(previous) { return true }
            if line[..<found.lowerBound].hasSuffix("file://") { return true }
            rest = rest[line.index(after: found.lowerBound)...]
        }
        return false
    }
}
