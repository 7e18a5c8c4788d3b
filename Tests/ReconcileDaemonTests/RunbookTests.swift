import ArgumentParser
import Foundation
import Testing

@testable import ReconcileDaemon

/// What a runbook tells somebody to type at night is what the program takes.
@Suite struct RunbookTests {
    private static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/runbooks")

    /// Commands in a page: lines of code blocks, and words in backticks.
    static func commands(in page: String) -> [String] {
        var found: [String] = []
        for line in page.split(separator: "\n") {
            let line = line.trimmingCharacters(in: .whitespaces)
            if line.hasPrefix("reconciled ") { found.append(line) }
            for match in line.matches(of: /`(reconciled [^`]+)`/) { found.append(String(match.1)) }
        }
        return found
    }

    /// The words of a command as a shell would hand them over, with values for what stands for one.
    static func words(of command: String) -> [String] {
        var words: [String] = []
        for match in command.matches(of: /"([^"]*)"|([^\s"]+)/) {
            guard match.2 != "#" else { break }
            words.append(String(match.1 ?? match.2 ?? ""))
        }
        return words.dropFirst().map { word in
            if word == "EPOCH" { return "2" }
            return word.hasPrefix("TIME_") ? "2026-03-01T09:30:00Z" : word
        }
    }

    /// Why the program does not take a command; `nil` if it does.
    static func fault(_ command: String) -> String? {
        do {
            _ = try ReconciledCommand.parseAsRoot(words(of: command))
            return nil
        } catch {
            return ReconciledCommand.message(for: error)
        }
    }

    @Test func `every command in a runbook is one that the program takes`() throws {
        let pages = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
            .filter { $0.hasSuffix(".md") }.sorted()
        var checked = 0
        for page in pages {
            let text = try String(contentsOf: Self.directory.appendingPathComponent(page), encoding: .utf8)
            // Where words are left out, somebody has to fill them in.
            for command in Self.commands(in: text) where !command.contains(" …") {
                checked += 1
                if let fault = Self.fault(command) { Issue.record("\(page): \(command): \(fault)") }
            }
        }
        #expect(pages.count > 10 && checked > 25, "\(checked) commands in \(pages.count) pages")
    }

    @Test func `a command that the program does not take is found`() {
        let page =
            "Text `reconciled site promote --reason x`.\n\n    reconciled site promot --reason \"x y\"  # a comment\n"
        #expect(Self.commands(in: page).map { Self.fault($0) == nil } == [true, false])
        #expect(Self.fault("reconciled site promote --why x") != nil)
        #expect(Self.fault("reconciled site recovered EPOCH --config reconciled.yaml") == nil)
        #expect(Self.words(of: "reconciled a \"b c\" --d # e") == ["a", "b c", "--d"])
    }
}
