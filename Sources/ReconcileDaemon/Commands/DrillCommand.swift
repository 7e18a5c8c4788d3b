import ArgumentParser
import Foundation
import ProgramEdge

/// Runs the drills of the project: scripts that lose something on purpose, follow the procedure, and measure.
struct DrillCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drill", abstract: "Lists and runs the drills: what is lost on purpose, and how it comes back.",
        discussion: """
            The drills are scripts of the project's directory drills, which also has a page about them. They need a
            machine on which processes can be started and killed; a container without a shell is none.

            Examples:
              reconciled drill list
              reconciled drill run site-lost-synchronous --yes

            Exit codes of run: 0 every objective met and every invariant held, 1 not, 2 usage, 3 it cannot be run here.
            """,
        subcommands: [List.self, Run.self])

    struct Place: ParsableArguments {
        @Option(help: "Where the drills are.") var directory = "drills"

        func drills() throws -> [Drill] { try Drill.all(in: directory) }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Says which drills there are.")

        @OptionGroup var location: Place
        @Option(help: "text or json.") var output: OutputFormat?

        func run() throws {
            let format = OutputFormat.chosen(output)
            for drill in try location.drills() { say(drill.line(as: format), as: format) }
        }
    }

    struct Run: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Runs a drill; what follows its name is the drill's (NAME --help lists it).")

        @OptionGroup var location: Place
        @Argument(help: "The drill's name.") var name: String
        @Argument(parsing: .captureForPassthrough, help: "Options of the drill.") var options: [String] = []

        func run() throws {
            let drills = try location.drills()
            guard let drill = drills.first(where: { $0.name == name }) else {
                let names = drills.map(\.name).joined(separator: ", ")
                throw CommandFailure(.usage, "there is no drill '\(name)'; allowed: \(names)")
            }
            throw ExitCode(try drill.run(options))
        }
    }
}

/// One drill: an executable file whose comment says what it is.
struct Drill {
    let name: String
    let description: String
    private let file: URL

    /// The drills of a directory, in order of their names.
    static func all(in directory: String) throws -> [Drill] {
        let directoryURL = URL(fileURLWithPath: directory, isDirectory: true)
        var drills: [Drill] = []
        for name in ((try? FileManager.default.contentsOfDirectory(atPath: directoryURL.path)) ?? []).sorted() {
            let file = directoryURL.appendingPathComponent(name)
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isDirectory), !isDirectory.boolValue,
                FileManager.default.isExecutableFile(atPath: file.path),
                let text = try? String(contentsOf: file, encoding: .utf8)
            else { continue }
            guard let description = description(in: text) else { continue }
            drills.append(Drill(name: name, description: description, file: file))
        }
        guard !drills.isEmpty else {
            throw CommandFailure(
                .unavailable, "'\(directory)' has no drills: run this in the project's directory, or name --directory")
        }
        return drills
    }

    /// The first sentence of the comment below the first line, which begins with `Drill:`.
    private static func description(in text: String) -> String? {
        let comment = text.split(separator: "\n").dropFirst().prefix { $0.hasPrefix("# ") }.map { $0.dropFirst(2) }
        guard let first = comment.first, first.hasPrefix("Drill: ") else { return nil }
        let words = comment.joined(separator: " ").dropFirst(7)
        guard let end = words.firstRange(of: ". ") ?? words.firstRange(of: ": ") else { return String(words) }
        return String(words[..<end.lowerBound])
    }

    func line(as format: OutputFormat) -> String {
        guard format == .text else {
            let object = ["name": name, "description": description]
            let data = try? JSONSerialization.data(withJSONObject: object, options: [.sortedKeys])
            return data.map { String(decoding: $0, as: UTF8.self) } ?? name
        }
        return name.padding(toLength: max(24, name.count + 1), withPad: " ", startingAt: 0) + description
    }

    /// Runs it on this process's terminal; its exit code.
    func run(_ options: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = file
        process.arguments = options
        try process.run()
        process.waitUntilExit()
        // As a shell says it of what a signal ended.
        return process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus
    }
}
