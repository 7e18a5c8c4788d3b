import Foundation

/// What a person watches: text on standard output, or, where that belongs to JSON, on standard error.
struct Screen: Sendable {
    private let descriptor: Int32
    /// Whether the last line can be drawn anew.
    let isTerminal: Bool
    private let hasColour: Bool

    init(isJSON: Bool, environment: [String: String] = ProcessInfo.processInfo.environment) {
        descriptor = isJSON ? STDERR_FILENO : STDOUT_FILENO
        isTerminal = isatty(descriptor) == 1 && environment["TERM"] != "dumb"
        hasColour = isTerminal && (environment["NO_COLOR"] ?? "").isEmpty
    }

    func say(_ text: String = "") {
        write((isTerminal ? "\r\u{1B}[K" : "") + text + "\n")
    }

    /// Draws the line anew on a terminal.
    func redraw(_ text: String) {
        write("\r\u{1B}[K" + text)
    }

    func bold(_ text: String) -> String { colour("1", text) }
    func faint(_ text: String) -> String { colour("2", text) }
    func good(_ text: String) -> String { colour("32", text) }
    func bad(_ text: String) -> String { colour("31;1", text) }

    private func colour(_ code: String, _ text: String) -> String {
        hasColour ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }

    private func write(_ text: String) {
        FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(Data(text.utf8))
    }
}

/// Numbers and times for people.
enum Words {
    /// `1,234,567`
    static func count(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + text
    }

    /// `1 payment`, `2 payments`
    static func count(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// `0.42 s`, `12.3 s`, `2 min 7 s`
    static func time(_ duration: Duration) -> String {
        let milliseconds = milliseconds(duration)
        if milliseconds >= 60_000 { return "\(milliseconds / 60_000) min \(milliseconds / 1_000 % 60) s" }
        let (unit, digits) = milliseconds < 10_000 ? (10, 2) : (100, 1)
        let parts = (milliseconds + unit / 2) / unit
        let scale = 1_000 / unit
        let rest = String(parts % scale)
        return "\(parts / scale).\(String(repeating: "0", count: digits - rest.count))\(rest) s"
    }

    static func milliseconds(_ duration: Duration) -> Int {
        let (seconds, attoseconds) = duration.components
        return Int(seconds) * 1_000 + Int(attoseconds / 1_000_000_000_000_000)
    }
}
