import Foundation

/// The files of the project, read once for all tests.
struct SourceTree {
    /// The tree that these tests were built from.
    static let project = Result { try SourceTree(containing: #filePath) }

    /// The directory that holds `Package.swift`.
    let root: URL
    /// Every text file of `Sources`, `Tests`, `scripts`, `drills`, `docs`, `conformance` and of the root itself, sorted
    /// by path.
    let files: [SourceFile]

    /// The Swift files.
    var swiftFiles: [SourceFile] { files.filter { $0.swift != nil } }

    /// Finds the root above `path` and reads the tree.
    ///
    /// - Throws: ``Unreadable`` when no directory above holds a `Package.swift`, or the error of the file
    ///   system when a file cannot be read.
    init(containing path: String) throws {
        var directory = URL(fileURLWithPath: path).resolvingSymlinksInPath().deletingLastPathComponent()
        while !FileManager.default.fileExists(atPath: directory.appending(path: "Package.swift").path) {
            guard directory.path != "/" else { throw Unreadable(path: path) }
            directory.deleteLastPathComponent()
        }
        root = directory
        var found = try Self.contents(of: root, below: "").filter { !$0.isDirectory }.map(\.path)
        for area in ["Sources", "Tests", "scripts", "drills", "docs", "conformance"] {
            found += try Self.filesRecursively(in: area, root: root)
        }
        files = try found.filter(Self.isText).sorted().map { path in
            let content = try String(contentsOf: directory.appending(path: path), encoding: .utf8)
            return SourceFile(path: path, content: content)
        }
    }

    /// There is no project above the path.
    struct Unreadable: Error {
        /// Where the search began.
        let path: String
    }

    private static func filesRecursively(in area: String, root: URL) throws -> [String] {
        guard FileManager.default.fileExists(atPath: root.appending(path: area).path) else { return [] }
        var result: [String] = []
        for entry in try contents(of: root.appending(path: area), below: area + "/") {
            if entry.isDirectory {
                result += try filesRecursively(in: entry.path, root: root)
            } else {
                result.append(entry.path)
            }
        }
        return result
    }

    private static func contents(
        of directory: URL, below prefix: String
    ) throws -> [(path: String, isDirectory: Bool)] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { !$0.hasPrefix(".") }
            .map { name in
                var isDirectory: ObjCBool = false
                let path = directory.appending(path: name).path
                _ = FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
                return (prefix + name, isDirectory.boolValue)
            }
    }

    /// Whether a file is text that people write: known by its ending, or a script without one.
    private static func isText(_ path: String) -> Bool {
        guard path != "LICENSE", path != "Package.resolved" else { return false }
        let ending = URL(fileURLWithPath: path).pathExtension
        return textEndings.contains(ending)
    }

    private static let textEndings: Set<String> = [
        "", "c", "css", "h", "html", "js", "md", "modulemap", "pl", "py", "sh", "sql", "swift", "yaml", "yml",
    ]
}
