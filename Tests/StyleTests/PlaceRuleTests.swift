import Testing

@Suite struct PathRuleTests {
    private func found(_ line: String, in path: String) -> Int {
        PathRule.findings(in: [SourceFile(path: path, content: line + "\n")]).count
    }

    @Test func `a machine path is found in any file`() {
        for directory in PathRule.machineDirectories {
            #expect(found("cd \(directory)project", in: "docs/a.md") == 1)
            #expect(found("let a = \"\(directory)project\"", in: "Sources/A/B.swift") == 1)
            #expect(found("file://\(directory)project", in: "Package.swift") == 1)
            #expect(found(directory, in: "scripts/a") == 1)
        }
    }

    @Test func `part of an address is no machine path`() {
        for directory in PathRule.machineDirectories {
            #expect(found("https://example.com\(directory)a", in: "docs/a.md") == 0)
            #expect(found("\"$base\(directory)a\"", in: "scripts/a") == 0)
            #expect(found("/v1\(directory)", in: "Sources/A/B.swift") == 0)
        }
    }

    @Test func `a temporary path is found in code and scripts`() {
        let line = "\"\(PathRule.temporaryDirectory)a\""
        #expect(found(line, in: "Sources/A/B.swift") == 1)
        #expect(found(line, in: "scripts/a") == 1)
        #expect(found(line, in: "docs/a.md") == 0)
        #expect(found("${TMPDIR:-/tmp}/a", in: "scripts/a") == 0)
    }
}

@Suite struct NameRuleTests {
    @Test func `an empty name of a file or type is found`() {
        let files = [
            SourceFile(path: "Sources/A/StringUtilities.swift", content: ""),
            SourceFile(path: "Tests/A/Helpers.swift", content: ""),
            SourceFile(path: "Sources/A/B.swift", content: "public final actor SessionManager: P {\n"),
        ]
        #expect(NameRule.findings(in: files).map(\.line) == [nil, nil, 1])
    }

    @Test func `using a foreign type with such a name passes`() {
        let source = "let a = FileManager.default\nextension FileManager {\n"
        #expect(NameRule.findings(in: [SourceFile(path: "Sources/A/B.swift", content: source)]) == [])
    }
}

@Suite struct SleepRuleTests {
    @Test(arguments: [
        "try await Task.sleep(for: .seconds(1))", "usleep(1000)", "sleep(1)",
        "Thread.sleep(forTimeInterval: 1)",
        "try await ContinuousClock().sleep(until: a)", "_ = Glibc.sleep(1)",
        "try await Task<Never, Never>.sleep(for: a)",
    ])
    func `a sleep in a test is found, except where polling lives`(_ line: String) {
        func count(_ path: String) -> Int {
            SleepRule.findings(in: [SourceFile(path: path, content: line + "\n")]).count
        }
        #expect(count("Tests/A/B.swift") == 1)
        #expect(count("Tests/A/Polling.swift") == 0)
        #expect(count("Tests/A/Deeper/Polling.swift") == 1)
        #expect(count("Sources/A/B.swift") == 0)
    }

    @Test(arguments: [
        "func sleep(until: Instant) {", "try await clock.sleep(for: a)", "let asleep = sleeper(1)",
    ])
    func `a clock of the test's own may sleep`(_ line: String) {
        #expect(!SleepRule.sleeps(line))
    }
}

@Suite struct FormRuleTests {
    private func found(_ content: String) -> [Int?] {
        FormRule.findings(in: [SourceFile(path: "Sources/A/B.swift", content: content)]).map(\.line)
    }

    @Test func `tabs and a wrong end are found`() {
        #expect(found("a\n\tb\n") == [2])
        #expect(found("a\nb") == [2])
        #expect(found("a\n\n") == [2])
        #expect(found("a\n") == [])
        #expect(found("") == [])
    }
}
