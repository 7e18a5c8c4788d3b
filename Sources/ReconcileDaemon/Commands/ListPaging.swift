import ArgumentParser
import PaymentCore
import ProgramEdge

/// Which part of a list is wanted, and how to go on after it.
struct ListPaging: ParsableArguments {
    @Option(help: "At most so many, 1 to 200.") var limit: Int = 50
    @Option(help: "Go on after this place, with the same filters; a list that has more ends with it.")
    var cursor: String?

    func checkedLimit() throws -> Int {
        guard (1...200).contains(limit) else {
            throw CommandFailure(.usage, "--limit: '\(limit)'; allowed: 1 to 200")
        }
        return limit
    }

    /// The place of the cursor, if one is given.
    func after<Cursor>(_ read: (String) -> Cursor?) throws -> Cursor? {
        guard let cursor else { return nil }
        guard let decoded = read(cursor) else {
            throw CommandFailure(
                .usage, "--cursor: '\(cursor)'; allowed: what a list with the same filters ended with")
        }
        return decoded
    }

    /// The last line of a list that has more: for people the command that goes on, for programs the cursor.
    static func more(_ cursor: String, as format: OutputFormat, after arguments: [String]) -> String {
        guard format == .text else { return #"{"next_cursor":"\#(cursor)"}"# }
        var words = [arguments.first.map { String($0.split(separator: "/").last ?? "reconciled") } ?? "reconciled"]
        var rest = arguments.dropFirst()
        while let word = rest.popFirst() {
            if word == "--cursor" {
                _ = rest.popFirst()
            } else if !word.hasPrefix("--cursor=") {
                words.append(quoted(word))
            }
        }
        return "there are more: \((words + ["--cursor", cursor]).joined(separator: " "))"
    }

    /// A word as a shell takes it.
    private static func quoted(_ word: String) -> String {
        let plain = word.unicodeScalars.allSatisfy { scalar in
            scalar.isASCII && (scalar.properties.isAlphabetic || "0123456789-_./:=,+@".unicodeScalars.contains(scalar))
        }
        return plain && !word.isEmpty ? word : "'\(word.replacing("'", with: #"'\''"#))'"
    }
}
