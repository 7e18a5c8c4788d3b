/// A text file of the project, as the rules see it.
struct SourceFile {
    /// The path from the root of the project, with slashes: `Sources/PaymentCore/Money.swift`.
    let path: String
    /// The whole content.
    let content: String
    /// The content split into its parts if the file is Swift, else nil.
    let swift: SwiftText?
    /// The lines of the content, without their newlines.
    let lines: [String]

    /// Splits the content once, because every rule reads it.
    init(path: String, content: String) {
        self.path = path
        self.content = content
        swift = path.hasSuffix(".swift") ? SwiftText(content) : nil
        lines =
            swift?.lines
            ?? content.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// The directory below which everything is checked alike: `Sources`, `Tests`, `scripts`, `drills`, `docs` or
    /// empty.
    var area: String { components.count > 1 ? components[0] : "" }

    /// The Swift target that the file belongs to, or nil outside `Sources` and `Tests`.
    var target: String? {
        (area == "Sources" || area == "Tests") && components.count > 2 ? components[1] : nil
    }

    /// The last component of the path.
    var name: String { components.last ?? path }

    private var components: [String] { path.split(separator: "/").map(String.init) }
}
