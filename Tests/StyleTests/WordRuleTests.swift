import Testing

@Suite struct WordRuleTests {
    private func found(_ content: String, in path: String = "Sources/A/B.swift") -> [String] {
        let file = SourceFile(path: path, content: content)
        return WordRule.project.filter { !$0.findings(in: [file]).isEmpty }.map(\.word)
    }

    private func named(_ place: WordRule.Place) -> [String] {
        WordRule.project.filter { $0.place == place }.map(\.word)
    }

    @Test func `every word is found in a comment unless it is looked for in code`() {
        for word in named(.anywhere) + named(.prose) {
            #expect(found("let a = 1  // \(word): later\n") == [word])
            #expect(found("a \(word) b\n", in: "docs/a.md") == [word])
            #expect(found("# \(word)\n", in: "scripts/a") == [word])
        }
    }

    @Test func `every construct is found in code and in no comment or string`() {
        for word in named(.code) {
            #expect(found("let a = \(word) b\n") == [word])
            #expect(found("// \(word) b\nlet a = \"\(word)\"\n") == [])
        }
    }

    @Test func `the end of a longer word is not the word`() {
        #expect(found("let a = retry!\nlet alias! = has!\n") == [])
        #expect(found("mktemp XXXXXX\n", in: "scripts/a") == [])
    }

    @Test func `a word may stand in a string if it means something there, and in a page`() {
        let word = "place" + "holder"
        #expect(found("let a = \"\(word)\"\n") == [])
        #expect(found("<input \(word)='a'>\n", in: "Sources/A/page.html") == [])
    }

    @Test func `case does not hide a sentence`() {
        #expect(found("// For" + " now it waits.\n") == ["for" + " now"])
    }

    @Test func `unchecked sendability stays in the C wrappers`() {
        let source = "final class A: @unchecked Sendable {}\n"
        #expect(found(source).count == 1)
        #expect(found(source, in: "Sources/HTTPTransport/A.swift") == [])
    }

    @Test(arguments: [
        "Task {", "Task { @MainActor in", "let a = Task<Void, Never> {", "Task(priority: .high) {",
        "Task.detached {", "return Task.init(operation: a)",
    ])
    func `an unstructured task is found`(_ line: String) {
        #expect(TaskRule.startsTask(line))
        let file = SourceFile(path: "Sources/A/B.swift", content: line + "\n")
        #expect(TaskRule.findings(in: [file]).count == 1)
    }

    @Test(arguments: [
        "withTaskGroup(of: Void.self) {", "Task.isCancelled", "try await Task.sleep(for: a)",
        "struct MyTask {",
        "group.addTask {", "var task: Task<Void, Never>?",
    ])
    func `what only has to do with tasks passes`(_ line: String) {
        #expect(!TaskRule.startsTask(line))
    }
}
