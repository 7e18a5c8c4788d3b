import Testing

@Suite struct SwiftTextTests {
    @Test func `comments are not code, and code is not a comment`() {
        let text = SwiftText("let a = 1 // try\n/* b /* c */ d */ let e\n")
        #expect(text.code.map(\.trimmed) == ["let a = 1", "let e"])
        #expect(text.comments.map(\.trimmed) == ["// try", "/* b /* c */ d */"])
    }

    @Test func `literals are blanked, and what they interpolate is code`() {
        let text = SwiftText(##"f("a \" { b \(g(x)) c", #"raw " \(no) \#(yes)"#)"## + "\n")
        let words = text.code[0].split(separator: " ")
        #expect(words == ["f(", "g(x)", ",", "yes", ")"])
    }

    @Test func `a multi-line literal hides its braces and keeps its lines`() {
        let text = SwiftText(
            "let a = \"\"\"\n  { \"quoted\" \"\" // no comment\n  \"\"\"\nlet b = #\"\"\"#\n")
        #expect(text.code.map(\.trimmed) == ["let a =", "", "", "let b ="])
        #expect(text.comments.allSatisfy { $0.trimmed.isEmpty })
    }

    @Test func `a quoted name is masked, whatever it holds`() {
        let text = SwiftText("func `a { and a \" and a //`() {\n")
        #expect(text.code[0].hasPrefix("func ____"))
        #expect(text.code[0].hasSuffix("_() {"))
        #expect(text.comments[0].trimmed.isEmpty)
    }

    @Test func `a regular expression is a literal and a division is not`() {
        let text = SwiftText("let a = /x\"{\\/y/\nlet b = c / d / e\nlet f = #/\"/#\n")
        #expect(text.code.map(\.trimmed) == ["let a =", "let b = c / d / e", "let f ="])
    }

    @Test func `an unterminated string spoils its own line only`() {
        let text = SwiftText("let a = \"open\nlet b = 1\n")
        #expect(text.code.map(\.trimmed) == ["let a =", "let b = 1"])
    }

    @Test func `lines are counted as an editor counts them`() {
        #expect(SwiftText("").lines == [])
        #expect(SwiftText("a").lines == ["a"])
        #expect(SwiftText("a\n").lines == ["a"])
        #expect(SwiftText("a\n\n").lines == ["a", ""])
    }
}
