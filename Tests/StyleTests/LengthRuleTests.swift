import Testing

@Suite struct LengthRuleTests {
    private func bodies(_ source: String) -> [FunctionBody] {
        FunctionBody.all(in: SwiftText(source))
    }

    private func lines(_ count: Int) -> String {
        String(repeating: "x\n", count: count)
    }

    @Test func `a body is what is between the braces`() {
        #expect(bodies("func f() {\n  a\n  b\n}\n") == [FunctionBody(name: "f", line: 1, length: 2)])
        #expect(bodies("func f() { a }\n") == [FunctionBody(name: "f", line: 1, length: 0)])
    }

    @Test func `the signature may hold closures, spread over lines and throw`() {
        let source = """
            func f(
                a: () -> Void = { b() },
                c: [Int]
            ) async throws(Fault) -> some Sequence<Int>
            where Int: Hashable {
                if a { b } else { c }
            }
            """
        #expect(bodies(source) == [FunctionBody(name: "f", line: 1, length: 1)])
    }

    @Test func `initializers, subscripts, computed properties and quoted names are bodies too`() {
        let source = """
            init?(a: Int) {
                self.init(b: a)
            }
            subscript(index: Int) -> Int {
                index
            }
            var size: Int {
                get { 1 }
            }
            func `a { brace`() {
                a
            }
            """
        #expect(bodies(source).map(\.name) == ["init", "subscript", "size", "`a { brace`"])
        #expect(bodies(source).allSatisfy { $0.length == 1 })
    }

    @Test func `a requirement and a stored property have no body`() {
        let source = """
            protocol P {
                func f() async throws -> Int
                init()
                func g()
            }
            var a = b {
                c
            }
            """
        #expect(bodies(source) == [])
    }

    @Test func `a nested function counts in both`() {
        #expect(bodies("func f() {\nfunc g() {\na\n}\n}\n").map(\.length) == [3, 1])
    }

    @Test func `a function is long from one line above the limit`() {
        func measured(_ count: Int) -> [String: Int] {
            let source = "func f() {\n\(lines(count))}\n"
            return LengthRule.longFunctions(in: [SourceFile(path: "Sources/A/B.swift", content: source)])
        }
        #expect(measured(60) == [:])
        #expect(measured(61) == ["Sources/A/B.swift f": 61])
    }

    @Test func `a second long function of one name is told apart`() {
        let function = "func f() {\n\(lines(61))}\n"
        let file = SourceFile(path: "Tests/A/B.swift", content: function + function)
        #expect(
            Set(LengthRule.longFunctions(in: [file]).keys) == ["Tests/A/B.swift f", "Tests/A/B.swift f (2)"])
    }

    @Test func `a file is long from one line above the limit`() {
        let files = [300, 301].map { SourceFile(path: "Sources/A/\($0).swift", content: lines($0)) }
        #expect(LengthRule.longFiles(in: files) == ["Sources/A/301.swift": 301])
    }

    @Test func `a line is long by its characters, not its bytes`() {
        let content = [String(repeating: "é", count: 120), String(repeating: "a", count: 121), ""]
            .joined(separator: "\n")
        let file = SourceFile(path: "Sources/A/B.swift", content: content)
        #expect(LengthRule.longLines(in: [file]).map(\.line) == [2])
    }
}
