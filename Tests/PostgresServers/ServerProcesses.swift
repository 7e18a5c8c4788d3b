import Foundation
import Glibc

/// All processes of the server of one data directory: the postmaster and its children.
struct ServerProcesses: Sendable {
    /// The data directory, as it stands in the postmaster's arguments.
    let data: String

    /// Kills all of them, as a loss of power would: none lives to see another one die.
    ///
    /// - Throws: ``PostgresServerError/wrongState(_:)`` if there is no server, ``PostgresServerError/timedOut(_:)``, or
    ///   `CancellationError`.
    func killAll() async throws {
        let postmaster = try await haltedPostmaster()
        let children = try ServerProcesses.children(of: postmaster)
        for process in children + [postmaster] { kill(process, SIGKILL) }
        try await Polling.until("the server in \(data) is dead") {
            (children + [postmaster]).allSatisfy { ServerProcesses.state(of: $0) == nil }
        }
    }

    /// Stops all of them where they are; their connections stay open and silent.
    ///
    /// - Throws: ``PostgresServerError/wrongState(_:)`` if there is no server, ``PostgresServerError/timedOut(_:)``, or
    ///   `CancellationError`.
    func freeze() async throws {
        let children = try ServerProcesses.children(of: try await haltedPostmaster())
        for process in children { kill(process, SIGSTOP) }
        try await Polling.until("the server in \(data) stands still") {
            children.allSatisfy { ["T", nil].contains(ServerProcesses.state(of: $0)) }
        }
    }

    /// Continues all of them.
    ///
    /// - Throws: ``PostgresServerError/wrongState(_:)`` if there is no server, or what reading `/proc` throws.
    func thaw() throws {
        let postmaster = try running()
        for process in try ServerProcesses.children(of: postmaster) + [postmaster] { kill(process, SIGCONT) }
    }

    /// The postmaster, if it is alive; the file that names it outlives it.
    var postmaster: pid_t? {
        guard let file = try? String(contentsOfFile: "\(data)/postmaster.pid", encoding: .utf8),
            let process = file.split(separator: "\n").first.flatMap({ pid_t($0) }),
            // The number may be another process's by now.
            let arguments = ServerProcesses.content(process, "cmdline"),
            arguments.split(separator: "\0").contains(Substring(data))
        else { return nil }
        return process
    }

    private func running() throws -> pid_t {
        guard let postmaster else {
            throw PostgresServerError.wrongState("there is no running server in \(data)")
        }
        return postmaster
    }

    /// Stops the postmaster, after which it has no new children and does nothing about those that die.
    private func haltedPostmaster() async throws -> pid_t {
        let postmaster = try running()
        kill(postmaster, SIGSTOP)
        try await Polling.until("the postmaster of \(data) stands still") {
            ["T", nil].contains(ServerProcesses.state(of: postmaster))
        }
        return postmaster
    }

    private static func children(of parent: pid_t) throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }
            .filter { fields(of: $0).dropFirst().first == Substring("\(parent)") }
    }

    /// The letter for what a process does, or nil if it is dead, also when nobody has taken notice yet.
    private static func state(of process: pid_t) -> Substring? {
        fields(of: process).first.flatMap { ["Z", "X"].contains($0) ? nil : $0 }
    }

    /// State, parent and more. They follow the name, which is in parentheses and may hold anything.
    private static func fields(of process: pid_t) -> [Substring] {
        guard let line = content(process, "stat"), let end = line.lastIndex(of: ")") else { return [] }
        return line[line.index(after: end)...].split(separator: " ")
    }

    /// A process may end at any time, and its files with it.
    private static func content(_ process: pid_t, _ file: String) -> String? {
        guard let handle = FileHandle(forReadingAtPath: "/proc/\(process)/\(file)") else { return nil }
        guard let data = try? handle.readToEnd() else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
