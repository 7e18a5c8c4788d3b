import ArgumentParser
import Foundation
import Testing

@testable import ReconcileDaemon

/// What a page tells somebody to type is what the program takes.
@Suite struct CommandsInPagesTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// Commands in a page: lines of code blocks, and words in backticks.
    static func commands(in page: String) -> [String] {
        var found: [String] = []
        for line in page.replacing(/\\\n\s*/, with: "").split(separator: "\n") {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("reconciled ") { found.append(line) }
            for match in line.matches(of: /`(reconciled [^`]+)`/) { found.append(String(match.1)) }
        }
        // Where words are left out, somebody has to fill them in. The second is what the program prints.
        return found.filter { !$0.contains(" …") && !$0.hasPrefix("reconciled is ready") }
    }

    /// The words of a command as a shell would hand them over, with values for what stands for one.
    static func words(of command: String) -> [String] {
        var words: [String] = []
        for match in command.matches(of: /"([^"]*)"|([^\s"\[\]]+)/) {
            guard match.2 != "#" else { break }
            words.append(String(match.1 ?? match.2 ?? ""))
        }
        return words.dropFirst().map { word in
            switch word {
            case "EPOCH": "2"
            case "COMMAND": "serve"
            case "$ID", "pay_…": "pay_" + String(repeating: "0", count: 40)
            case _ where word.hasPrefix("TIME_"): "2026-03-01T09:30:00Z"
            // The first of what is allowed.
            case _ where word.contains("|"): String(word.prefix { $0 != "|" })
            default: word
            }
        }
    }

    /// Why the program does not take a command; `nil` if it does. A command without an option may be a mention of what
    /// needs some: it only has to exist then.
    static func fault(_ command: String) -> String? {
        let words = words(of: command)
        do {
            _ = try ReconciledCommand.parseAsRoot(words)
            return nil
        } catch {
            let isHelp = ReconciledCommand.exitCode(for: error).isSuccess
            guard !isHelp, words.contains(where: { $0.hasPrefix("--") }) else {
                return isHelp || exists(words) ? nil : ReconciledCommand.message(for: error)
            }
            return ReconciledCommand.message(for: error)
        }
    }

    private static func exists(_ words: [String]) -> Bool {
        var command: any ParsableCommand.Type = ReconciledCommand.self
        for word in words {
            let next = command.configuration.subcommands.first { $0._commandName == word }
            guard let next else { return false }
            command = next
        }
        return true
    }

    @Test func `every command in a page is one that the program takes`() throws {
        let root = Self.root.standardizedFileURL.path
        let docs = try FileManager.default.subpathsOfDirectory(atPath: root + "/docs")
            .filter { $0.hasSuffix(".md") }.map { "docs/" + $0 }
        let others = [
            "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "deploy/k8s/README.md", "terraform/README.md",
            "drills/README.md",
        ]
        var checked = 0
        for page in (docs + others).sorted() {
            let text = try String(contentsOfFile: root + "/" + page, encoding: .utf8)
            for command in Self.commands(in: text) {
                checked += 1
                if let fault = Self.fault(command) { Issue.record("\(page): \(command): \(fault)") }
            }
        }
        #expect(docs.count > 60 && checked > 120, "\(checked) commands in \(docs.count) pages")
    }

    @Test func `a command that the program does not take is found`() {
        let page =
            "Text `reconciled site promote --reason x`.\n\n    reconciled site promot --reason \"x y\"  # a comment\n"
        #expect(Self.commands(in: page).map { Self.fault($0) == nil } == [true, false])
        #expect(Self.commands(in: "reconciled a \\\n  --b c\n") == ["reconciled a --b c"])
        #expect(Self.fault("reconciled site promote --why x") != nil)
        #expect(Self.fault("reconciled site promote") == nil)
        #expect(Self.fault("reconciled site promot") != nil)
        #expect(Self.fault("reconciled sites") != nil)
        #expect(Self.fault("reconciled COMMAND --help") == nil)
        #expect(Self.fault("reconciled site recovered EPOCH --config reconciled.yaml") == nil)
        #expect(Self.words(of: "reconciled a \"b c\" [--d e|f] # g") == ["a", "b c", "--d", "e"])
    }
}
