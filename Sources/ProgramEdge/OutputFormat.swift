public import ArgumentParser
import Foundation

/// How a command prints what it has to say.
public enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// Lines for people.
    case text
    /// A line of JSON for each result.
    case json

    /// Text on a terminal, JSON lines into a pipe, unless one is asked for.
    public static func chosen(_ asked: OutputFormat?) -> OutputFormat {
        asked ?? (isatty(STDOUT_FILENO) == 1 ? .text : .json)
    }
}
