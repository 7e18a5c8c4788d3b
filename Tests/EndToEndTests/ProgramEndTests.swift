import Foundation
import Testing

/// How programs end that have nothing to do.
@Suite struct ProgramEndTests {
    @Test func `a program that ends while its transport starts does not crash`() throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("alone-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        // Alone: the programs that it needs are not beside it.
        let alone = directory.appendingPathComponent("reconciled-lab")
        try FileManager.default.copyItem(at: DaemonProcess.program(["reconciled-lab"]), to: alone)
        // One in twenty crashed, when OpenSSL was put away while the transport's thread loaded certificates.
        for _ in 0..<80 {
            let process = Process()
            process.executableURL = alone
            let run = directory.appendingPathComponent("run").path
            process.arguments = ["demo", "--payments", "1", "--directory", run]
            process.standardOutput = FileHandle.nullDevice
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationReason == .exit && process.terminationStatus == 3, "\(words)")
            #expect(words.contains("is not there"), "\(words)")
        }
    }

    /// A list that was cut off looked like a whole one.
    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full"), "the device /dev/full is not here"))
    func `a command whose results cannot be written says so, and does not end as done`() throws {
        for arguments in [["version"], ["--help"]] {
            let process = Process()
            process.executableURL = try DaemonProcess.program()
            process.arguments = arguments
            process.standardOutput = FileHandle(forWritingAtPath: "/dev/full")
            let errors = Pipe()
            process.standardError = errors
            try process.run()
            let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 3, "\(arguments): \(words)")
            #expect(words.contains("standard output cannot be written: No space left on device"), "\(words)")
        }
    }

    @Test func `the timeline of a seed is shown where it is asked for, also where nothing was found`() throws {
        func lines(_ more: [String]) throws -> [String] {
            let process = Process()
            process.executableURL = try DaemonProcess.program(["reconciled-lab"])
            process.arguments = ["simulate", "--seeds", "1", "--from", "7", "--output", "text"] + more
            let output = Pipe()
            process.standardOutput = output
            process.standardError = FileHandle.nullDevice
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(process.terminationStatus == 0, "\(text)")
            return text.split(separator: "\n").map(String.init)
        }
        let told = "asks to create payment"
        #expect(try !lines([]).contains { $0.contains(told) })
        let shown = try lines(["--timeline", "--lines", "40"])
        #expect(shown.contains { $0.contains(told) } && shown.contains { $0.contains("lines are left out") })
    }
}
