import Foundation
import Testing

/// What a person sees of the lab's commands, as processes.
@Suite struct LabProgramTests {
    private static let small = [
        "demo", "--payments", "2", "--kills", "0", "--fault-percent", "0", "--concurrency", "2", "--output", "text",
    ]

    @Test func `a demo tells what became of its payments, and takes its own directory away`() async throws {
        try await inDirectory { directory in
            let demo = try await LabProgram(LabProgramTests.small, temporary: directory)
            #expect(demo.status == 0, "\(demo.output)\(demo.errors)")
            #expect(demo.line("succeeded") == ["succeeded", "2"], "\(demo.output)")
            #expect(demo.output.contains("every audit trail is intact"))
            let left = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            #expect(!left.contains { $0.hasPrefix("reconciled-demo") }, "\(left)")
        }
    }

    @Test func `a directory that a demo was given stays, and its books can be asked`() async throws {
        try await inDirectory { directory in
            let run = directory.appendingPathComponent("run").path
            let demo = try await LabProgram(LabProgramTests.small + ["--directory", run], temporary: directory)
            #expect(demo.status == 0, "\(demo.output)\(demo.errors)")
            #expect(demo.output.contains(run), "it says where everything is")
            let tokens = ["CARD", "POINTS", "BALANCE"].map {
                ("RECONCILED_PROVIDERS_\($0)_TOKEN", String(repeating: "t", count: 64))
            }
            // What stands against it is the result of a command that fails.
            let refused = try await LabProgram(
                ["site", "promote", "--config", "\(run)/reconciled.yaml", "--reason", "why", "--by", "hana"]
                    + ["--dry-run", "--output", "json"], of: "reconciled", temporary: directory,
                environment: Dictionary(uniqueKeysWithValues: tokens))
            #expect(refused.status == 1, "\(refused.errors)")
            #expect(refused.output.hasPrefix(#"{"obstacles":[{"name":"already_active""#), "\(refused.output)")
        }
    }

    @Test func `a run that fails is made small, unless its timeline is what was asked for`() async throws {
        try await inDirectory { directory in
            let arguments = ["simulate", "--plant", "auditEntryDropped", "--seeds", "1", "--from", "1"]
            let plain = try await LabProgram(arguments + ["--output", "text"], temporary: directory)
            #expect(plain.status == 1, "\(plain.output)\(plain.errors)")
            #expect(plain.output.contains("made small in"), "\(plain.output)")
            let whole = try await LabProgram(arguments + ["--timeline", "--output", "text"], temporary: directory)
            #expect(whole.status == 1 && !whole.output.contains("made small in"), "\(whole.output)")
        }
    }

    @Test func `a program that serves ends well when it is told to`() async throws {
        try await inDirectory { directory in
            let arguments = ["serve", "--port", "0", "--providers", "card"]
            let served = try await LabProgram(
                arguments, of: "provider-simulator", temporary: directory, terminatedAfter: "ready port=")
            #expect(!served.wasKilled && served.status == 0, "\(served.output)\(served.errors)")
        }
    }

    /// A shell stops a loop only if what it ran was ended by the signal.
    @Test func `a command that serves nobody is ended by the signal itself`() async throws {
        try await inDirectory { directory in
            let arguments = ["simulate", "--exhaustive", "--output", "text"]
            let searching = try await LabProgram(arguments, temporary: directory, terminatedAfter: "safe")
            #expect(searching.wasKilled && searching.status == SIGTERM, "\(searching.output)\(searching.errors)")
        }
    }
}
