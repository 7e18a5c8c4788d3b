import Testing

/// One place where the tree breaks a rule.
struct Finding: Equatable, CustomStringConvertible {
    /// The file, relative to the root of the project.
    let file: String
    /// The line, counted from 1, or nil when the whole file is meant.
    let line: Int?
    /// What is wrong there.
    let problem: String
    /// What the rule allows instead.
    let allowed: String

    var description: String {
        let place = line.map { "\(file):\($0)" } ?? file
        return "\(place): \(problem); allowed: \(allowed)"
    }
}

/// Fails the running test with all findings in one message, a line for each.
func report(_ findings: [Finding], sourceLocation: SourceLocation = #_sourceLocation) {
    guard !findings.isEmpty else { return }
    let list = findings.map(\.description).joined(separator: "\n")
    Issue.record("\(findings.count) found:\n\(list)", sourceLocation: sourceLocation)
}
