import Foundation

/// The Swift code of a page, held against the tests that compile it.
enum PageCode {
    /// The lines of each block, without indentation.
    static func blocks(of page: String) -> [[String]] {
        page.components(separatedBy: "```swift\n").dropFirst().map {
            lines(of: $0.components(separatedBy: "\n```").first ?? "")
        }
    }

    /// Whether a source has the lines of a block, one after the other.
    static func holds(_ block: [String], in code: String) -> Bool {
        !block.isEmpty && lines(of: code).contains(block)
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
