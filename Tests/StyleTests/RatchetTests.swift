import Foundation
import Testing

@Suite struct RatchetTests {
    private let recorded = Ratchet(
        fileLength: ["a": 320], functionLength: ["b": 70], undocumentedDeclarations: ["C": 3])

    @Test func `what is recorded passes`() {
        #expect(recorded.findings(against: recorded) == [])
    }

    @Test func `growth fails`() {
        let measured = Ratchet(
            fileLength: ["a": 321], functionLength: ["b": 71], undocumentedDeclarations: ["C": 4])
        #expect(recorded.findings(against: measured).map(\.allowed) == ["320", "70", "3"])
    }

    @Test func `a new exception fails with the limit of its rule`() {
        let measured = Ratchet(
            fileLength: ["a": 301], functionLength: ["b": 61], undocumentedDeclarations: ["C": 1])
        #expect(Ratchet().findings(against: measured).map(\.allowed) == ["300", "60", "0"])
    }

    @Test func `a record that is too high or not needed fails`() {
        let measured = Ratchet(fileLength: ["a": 310], functionLength: ["b": 70])
        #expect(recorded.findings(against: measured).map(\.file) == ["a", "C"])
    }

    @Test func `lowering never raises and never adds`() {
        let measured = Ratchet(
            fileLength: ["a": 310, "new": 400], functionLength: ["b": 90], undocumentedDeclarations: [:])
        #expect(recorded.lowered(to: measured) == Ratchet(fileLength: ["a": 310], functionLength: ["b": 70]))
    }

    @Test func `a record is read as it was written`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "ratchet.json")
        #expect(try Ratchet.read(from: file) == nil)
        try recorded.write(to: file)
        #expect(try Ratchet.read(from: file) == recorded)
        try Data("[]".utf8).write(to: file)
        #expect(throws: DecodingError.self) { try Ratchet.read(from: file) }
    }
}

@Suite struct SourceTreeTests {
    @Test func `a path below no project is an error`() {
        #expect(throws: SourceTree.Unreadable.self) { try SourceTree(containing: "/nowhere/at/all.swift") }
    }
}
