import Foundation

/// Text that a terminal only shows: no sequence in it moves the cursor, changes a colour or a title, or turns the
/// direction of writing. Callers, providers and databases write what commands print; none of it may act.
public enum TerminalText {
    /// What somebody else wrote, in one line: every sign that is not simply seen is shown as its code, such as
    /// `\u{1B}`, and a line break too, so that nothing looks like a line of ours.
    public static func written(_ text: String) -> String { escaped(text) { _ in false } }

    /// A whole text in lines of our own; the same, except that its line breaks stay.
    ///
    /// It is the last thing that happens to every text, so that a part which nobody thought of is harmless as well.
    /// A text that is escaped already stays as it is.
    public static func lines(_ text: String) -> String { escaped(text) { $0 == "\n" } }

    private static func escaped(_ text: String, except isKept: (Unicode.Scalar) -> Bool) -> String {
        // Nearly every text is plain, and is not copied.
        guard text.unicodeScalars.contains(where: { acts($0) && !isKept($0) }) else { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if acts(scalar), !isKept(scalar) {
                shown += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                shown.unicodeScalars.append(scalar)
            }
        }
        return shown
    }

    /// Whether it does something, or nothing that can be seen. Variants of signs are left: they only choose a shape.
    private static func acts(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7E).contains(scalar.value) { return false }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return true
        case .nonspacingMark: return false
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}

/// Prints a result: JSON as it is, text as ``TerminalText`` has it.
public func say(_ text: String, as format: OutputFormat = .text) {
    print(format == .json ? text : TerminalText.lines(text))
}

/// Tells a person on standard error what a command does that takes a while; scripts read its results only.
public func warn(_ text: String) {
    FileHandle.standardError.write(Data((TerminalText.lines(text) + "\n").utf8))
}
