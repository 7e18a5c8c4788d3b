/// Tests wait for a condition with a deadline, and for nothing else.
enum SleepRule {
    /// The one file of each test target that may sleep: it polls a condition until a deadline.
    static let permittedName = "Polling.swift"

    /// The sleeps in tests.
    static func findings(in files: [SourceFile]) -> [Finding] {
        files.filter { $0.area == "Tests" && !isPermitted($0) }.flatMap { file in
            (file.swift?.code ?? []).enumerated().compactMap { index, line in
                guard sleeps(line) else { return nil }
                return Finding(
                    file: file.path, line: index + 1, problem: "a sleep in a test",
                    allowed: "polling a condition with a deadline, by Tests/<target>/\(permittedName)")
            }
        }
    }

    /// Whether a line of code sleeps by the real clock; a test's own clock may have a `sleep` of its own.
    static func sleeps(_ line: String) -> Bool {
        if ["Task", "Thread", "ContinuousClock()", "SuspendingClock()", "ContinuousClock", "SuspendingClock"]
            .contains(where: { line.contains($0 + ".sleep") || line.contains($0 + "<Never, Never>.sleep") })
        {
            return true
        }
        return ["sleep", "usleep", "nanosleep"].contains { word in
            line.positions(ofWord: word).contains { end in
                let before = line[..<line.index(end, offsetBy: -word.count)]
                let isMember = before.hasSuffix(".") && !before.hasSuffix("Glibc.")
                return line[end...].hasPrefix("(") && !isMember && !before.hasSuffix("func ")
            }
        }
    }

    private static func isPermitted(_ file: SourceFile) -> Bool {
        file.target.map { file.path == "Tests/\($0)/\(permittedName)" } ?? false
    }
}
