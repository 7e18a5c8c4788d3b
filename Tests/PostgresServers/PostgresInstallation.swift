import Foundation
import Glibc

/// PostgreSQL's programs on this machine, and the user that runs its servers.
struct PostgresInstallation: Sendable {
    /// The directory of the programs.
    let programs: String
    /// The user that runs the servers, if it is not the one of this process: they refuse to run as root.
    let user: String?

    private static let needed = ["initdb", "pg_basebackup", "pg_ctl", "postgres", "psql"]
    private static let advice = "install it with: apt-get install postgresql"

    /// Finds the installation that `pg_config` tells of, or the newest that Debian's packages have made.
    ///
    /// - Throws: ``PostgresServerError/notInstalled(_:)``, which says what is missing.
    static func find() async throws -> PostgresInstallation {
        let directories = await configured() + packaged()
        var missing: [String] = []
        for directory in directories {
            let absent = needed.filter { !FileManager.default.isExecutableFile(atPath: "\(directory)/\($0)") }
            if absent.isEmpty { return PostgresInstallation(programs: directory, user: try serverUser()) }
            missing.append("\(directory) has no \(absent.joined(separator: ", "))")
        }
        let found =
            missing.isEmpty
            ? "pg_config is not in the path, and \(packageRoot) has no version" : missing.joined(separator: "; ")
        throw PostgresServerError.notInstalled("PostgreSQL's server is needed and was not found: \(found); \(advice)")
    }

    /// A command that runs one of the programs as the servers' user.
    func command(_ program: String, _ arguments: [String]) -> [String] {
        let prefix = user.map { ["runuser", "-u", $0, "--"] } ?? []
        return prefix + ["\(programs)/\(program)"] + arguments
    }

    /// Gives a file or directory to the servers' user.
    ///
    /// - Throws: ``PostgresServerError/failed(program:words:)``.
    func give(_ path: String) throws {
        guard let user, let entry = getpwnam(user) else { return }
        guard chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else {
            throw Program.systemFailure("chown \(path)")
        }
    }

    private static let packageRoot = "/usr/lib/postgresql"

    /// Debian's packages keep each major version in a directory of its own.
    private static func packaged() -> [String] {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: packageRoot)) ?? []
        return versions.compactMap { Int($0) }.sorted(by: >).map { "\(packageRoot)/\($0)/bin" }
    }

    /// The client library's package alone brings `pg_config`, so the programs need not be where it says.
    private static func configured() async -> [String] {
        guard let output = try? await Program.run(["pg_config", "--bindir"], in: "/") else { return [] }
        return [output.trimmingCharacters(in: .whitespacesAndNewlines)]
    }

    private static func serverUser() throws -> String? {
        guard geteuid() == 0 else { return nil }
        let name = "postgres"
        guard getpwnam(name) != nil else {
            throw PostgresServerError.notInstalled(
                "PostgreSQL's server refuses to run as root, and there is no user \(name) to run it; \(advice)")
        }
        return name
    }
}
