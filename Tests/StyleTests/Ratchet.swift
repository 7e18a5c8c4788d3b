import Foundation

/// The exceptions from the measured rules that are left, with the size of each.
///
/// They only shrink. The file beside this one records them. It says exactly what is true: a size above the
/// recorded one, an exception that is not recorded and a record that is no longer needed all fail.
struct Ratchet: Codable, Equatable {
    /// Files above the limit, by path, in lines.
    var fileLength: [String: Int] = [:]
    /// Functions above the limit, by path and name, in lines.
    var functionLength: [String: Int] = [:]
    /// Declarations that other targets see and no comment explains, counted by target.
    var undocumentedDeclarations: [String: Int] = [:]

    /// What the tree holds.
    init(measuring files: [SourceFile]) {
        fileLength = LengthRule.longFiles(in: files)
        functionLength = LengthRule.longFunctions(in: files)
        undocumentedDeclarations = DocumentationRule.undocumented(in: files)
    }

    /// A record with the given exceptions.
    init(
        fileLength: [String: Int] = [:], functionLength: [String: Int] = [:],
        undocumentedDeclarations: [String: Int] = [:]
    ) {
        self.fileLength = fileLength
        self.functionLength = functionLength
        self.undocumentedDeclarations = undocumentedDeclarations
    }

    /// This record, lowered to what `measured` still needs; nothing is raised and nothing added.
    func lowered(to measured: Ratchet) -> Ratchet {
        func lower(_ recorded: [String: Int], _ measured: [String: Int]) -> [String: Int] {
            recorded.reduce(into: [:]) { result, entry in
                result[entry.key] = measured[entry.key].map { min($0, entry.value) }
            }
        }
        return Ratchet(
            fileLength: lower(fileLength, measured.fileLength),
            functionLength: lower(functionLength, measured.functionLength),
            undocumentedDeclarations: lower(undocumentedDeclarations, measured.undocumentedDeclarations))
    }

    /// Where `measured` differs from this record.
    func findings(against measured: Ratchet) -> [Finding] {
        Self.compare(fileLength, measured.fileLength, unit: "lines", limit: LengthRule.fileLimit)
            + Self.compare(
                functionLength, measured.functionLength, unit: "lines in the body",
                limit: LengthRule.functionLimit)
            + Self.compare(
                undocumentedDeclarations, measured.undocumentedDeclarations,
                unit: "declarations without a doc comment", limit: 0)
    }

    private static func compare(
        _ recorded: [String: Int], _ measured: [String: Int], unit: String, limit: Int
    ) -> [Finding] {
        Set(recorded.keys).union(measured.keys).sorted().compactMap { key in
            let allowed = recorded[key] ?? limit
            let size = measured[key]
            if let size, size > allowed {
                return Finding(file: key, line: nil, problem: "\(size) \(unit)", allowed: "\(allowed)")
            }
            guard recorded[key] != nil, size != allowed else { return nil }
            let present = size.map { "\($0)" } ?? "at most \(limit)"
            return Finding(
                file: key, line: nil, problem: "recorded with \(allowed) \(unit), but it has \(present)",
                allowed: "lowering it with UPDATE_RATCHET=1 swift test --filter StyleTests")
        }
    }

    /// Reads the record; nil when there is none.
    ///
    /// - Throws: the error of the file system, or of the decoder when the file is not a record.
    static func read(from url: URL) throws -> Ratchet? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        return try JSONDecoder().decode(Ratchet.self, from: Data(contentsOf: url))
    }

    /// Writes the record, sorted, so that a diff shows only what changed.
    func write(to url: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try (encoder.encode(self) + Data("\n".utf8)).write(to: url, options: .atomic)
    }
}
