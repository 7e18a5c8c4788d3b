/// Puts an answer together from libcurl's pieces, within bounds.
///
/// A synchronous value.
struct ResponseCollector {
    /// What becomes of a piece.
    enum Verdict: Equatable {
        case accepted
        case tooLarge
        case malformed
    }

    /// All header lines of an answer together, interim answers and trailers included.
    static let maximumHeaderBytes = 64 * 1024
    static let maximumHeaderLines = 256

    private let maximumBodyBytes: Int
    private(set) var fields = HTTPFields()
    private(set) var body: [UInt8] = []
    private var headerBytes = 0
    private var headerLines = 0
    private var inHeader = false

    init(maximumBodyBytes: Int) {
        self.maximumBodyBytes = maximumBodyBytes
    }

    /// One header line with its line end.
    ///
    /// A status line begins a new header: the one before was interim.
    mutating func header(_ line: UnsafeRawBufferPointer) -> Verdict {
        headerBytes += line.count
        headerLines += 1
        guard headerBytes <= Self.maximumHeaderBytes, headerLines <= Self.maximumHeaderLines else {
            return .tooLarge
        }
        let text = String(decoding: line, as: UTF8.self)
        if text.hasPrefix("HTTP/") {
            fields = HTTPFields()
            inHeader = true
            return .accepted
        }
        let content = Self.trimmed(text[...])
        if content.isEmpty {
            inHeader = false
            return .accepted
        }
        // After the empty line come trailers, which carry nothing that is used here.
        guard inHeader else { return .accepted }
        if text.utf8.first == 0x20 || text.utf8.first == 0x09 {
            fields.extendLast(with: content)
            return .accepted
        }
        guard let colon = content.firstIndex(of: ":"), colon != content.startIndex else { return .malformed }
        fields.append(String(content[..<colon]), Self.trimmed(content[content.index(after: colon)...]))
        return .accepted
    }

    /// A piece of the body.
    mutating func append(_ piece: UnsafeRawBufferPointer) -> Verdict {
        guard piece.count <= maximumBodyBytes - body.count else { return .tooLarge }
        body.append(contentsOf: piece)
        return .accepted
    }

    private static func trimmed(_ text: Substring) -> String {
        let blank: (Unicode.Scalar) -> Bool = { $0 == " " || $0 == "\t" || $0 == "\r" || $0 == "\n" }
        var scalars = text.unicodeScalars
        while let first = scalars.first, blank(first) { scalars.removeFirst() }
        while let last = scalars.last, blank(last) { scalars.removeLast() }
        return String(scalars)
    }
}
