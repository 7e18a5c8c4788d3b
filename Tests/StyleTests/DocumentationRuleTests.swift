import Testing

@Suite struct DocumentationRuleTests {
    private func undocumented(_ source: String) -> [Int] {
        DocumentationRule.undocumentedLines(in: SwiftText(source))
    }

    @Test(arguments: [
        "public struct A {}\n", "    public var a: Int\n", "package func f() {}\n",
        "@frozen public enum E {}\n",
        "// an ordinary comment\npublic let a = 1\n", "/// Away.\n\npublic let a = 1\n",
        "public private(set) var a = 1\n", "/// Of b.\nlet b = 1\npublic let a = 1\n",
    ])
    func `a public declaration without a doc comment is found`(_ source: String) {
        #expect(undocumented(source).count == 1)
    }

    @Test(arguments: [
        "/// A.\npublic struct A {}\n", "/// A.\n@frozen\n// Why it is frozen.\npublic enum A {}\n",
        "/// A.\n@frozen public enum A {}\n", "struct A {}\n", "public import Crypto\n",
        "public static func == (a: A, b: A) -> Bool { true }\n",
        "public func hash(into hasher: inout Hasher) {}\n",
        "let a = \"\"\"\n    public let b = 1\n    \"\"\"\n", "// public let a = 1\n",
        "open = nil\n", "public import struct Crypto.SHA256\n",
    ])
    func `a documented or private declaration passes`(_ source: String) {
        #expect(undocumented(source) == [])
    }

    @Test func `what is missing is counted by target`() {
        let files = ["Sources/A/1.swift", "Sources/A/2.swift", "Sources/B/3.swift", "Tests/C/4.swift"].map {
            SourceFile(path: $0, content: "public let a = 1\n")
        }
        #expect(DocumentationRule.undocumented(in: files) == ["A": 2, "B": 1])
    }
}
