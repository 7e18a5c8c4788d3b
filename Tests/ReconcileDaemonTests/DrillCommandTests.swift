import Foundation
import ProgramEdge
import Testing

@testable import ReconcileDaemon

@Suite struct DrillCommandTests {
    /// A directory with two drills, a library that is none, and a page.
    private func withDrills(_ body: (String) throws -> Void) throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("drills-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let files = [
            ("b-lost", 0o755, "#!/bin/sh\n# Drill: b is lost, and with\n# it everything. More words.\nexit 1\n"),
            ("a-lost", 0o755, "#!/bin/sh\n# Drill: a is lost.\n[ \"$1\" = --yes ]\n"),
            ("tool", 0o755, "#!/bin/sh\n# Not a drill.\n"), ("README.md", 0o644, "# Drills\n# Drill: none\n"),
        ]
        for (name, mode, text) in files {
            let file = directory.appendingPathComponent(name)
            try text.write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }
        try body(directory.path)
    }

    @Test func `the drills of a directory are listed with what they lose`() throws {
        try withDrills { directory in
            let drills = try Drill.all(in: directory)
            #expect(drills.map(\.name) == ["a-lost", "b-lost"])
            #expect(drills[0].description == "a is lost.")
            #expect(drills[0].line(as: .json) == #"{"description":"a is lost.","name":"a-lost"}"#)
            #expect(drills[1].description == "b is lost, and with it everything")
            #expect(drills[1].line(as: .text).hasPrefix("b-lost  "))
        }
    }

    @Test func `a drill's exit code is the command's, and its options reach it`() throws {
        try withDrills { directory in
            let drills = try Drill.all(in: directory)
            #expect(try drills[0].run(["--yes"]) == 0)
            #expect(try drills[0].run([]) == 1 && drills[1].run(["--yes"]) == 1)
        }
    }

    @Test func `a place without drills is refused, and says what to do`() {
        let failure = #expect(throws: CommandFailure.self) { try Drill.all(in: "/nowhere") }
        #expect(failure?.message.contains("--directory") == true)
    }
}
