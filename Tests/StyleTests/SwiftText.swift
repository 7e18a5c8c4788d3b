/// Swift source split into code, comments and string literals, without being parsed.
///
/// The rules read lines. Most of them would be misled by a brace in a string or a keyword in a comment, so
/// each rule looks at the view that it means. Every view has the same number of lines as the file.
struct SwiftText {
    /// The lines as written.
    let lines: [String]
    /// The lines with comments and literals blanked; an identifier in backticks becomes underscores.
    let code: [String]
    /// The lines with everything but comments blanked.
    let comments: [String]

    /// Splits `source`; text that is not valid Swift is split as well as it can be and never rejected.
    init(_ source: String) {
        var splitter = SwiftSplitter(Array(source.utf8))
        let regions = splitter.split()
        let bytes = splitter.bytes
        lines = Self.view(bytes) { byte, _ in byte }
        code = Self.view(bytes) { byte, index in
            switch regions[index] {
            case .code: byte
            case .name: UInt8(ascii: "_")
            case .comment, .literal: UInt8(ascii: " ")
            }
        }
        comments = Self.view(bytes) { byte, index in
            regions[index] == .comment ? byte : UInt8(ascii: " ")
        }
    }

    private static func view(_ bytes: [UInt8], _ shown: (UInt8, Int) -> UInt8) -> [String] {
        var result: [String] = []
        var line: [UInt8] = []
        for (index, byte) in bytes.enumerated() {
            if byte == UInt8(ascii: "\n") {
                result.append(String(decoding: line, as: UTF8.self))
                line.removeAll(keepingCapacity: true)
            } else {
                line.append(shown(byte, index))
            }
        }
        // What follows the last newline is a line only if there is something on it.
        if !line.isEmpty { result.append(String(decoding: line, as: UTF8.self)) }
        return result
    }
}

/// What a byte of a Swift file belongs to.
enum SwiftRegion: UInt8 {
    /// Everything that is none of the others.
    case code
    /// An identifier in backticks, which may hold any character.
    case name
    /// A comment of either kind, with its marks.
    case comment
    /// A string or regular expression, with its delimiters but without interpolated code.
    case literal
}
