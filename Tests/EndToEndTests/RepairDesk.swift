import Foundation
import HTTPTransport
import Testing

/// The commands of two people, each with a token of their own.
struct RepairDesk {
    private let world: World
    /// The token file of an operator.
    let onCall: String
    /// The token file of an approver.
    let ken: String

    init(_ world: World) throws {
        self.world = world
        let files = [World.operatorToken, World.approverToken].enumerated().map { number, token in
            (world.directory.appendingPathComponent("token-\(number)"), token)
        }
        for (file, token) in files { try Data("\(token)\n".utf8).write(to: file) }
        (onCall, ken) = (files[0].0.path, files[1].0.path)
    }

    func run(_ words: [String], as token: String, at client: APIClient) async throws -> (status: Int32, output: String)
    {
        let url = "http://127.0.0.1:\(client.adminPort)"
        return try await world.command(["repairs"] + words + ["--url", url, "--token-file", token])
    }

    /// One person proposes, as the quarantine runbook has it, and another one approves.
    func repair(_ id: String, _ action: String, _ more: [String] = [], at client: APIClient) async throws {
        let evidence = ["--evidence", "Their mail of today, case 17.", "--version", try await client.version(of: id)]
        let proposed = try await run(["propose", id, "--action", action] + more + evidence, as: onCall, at: client)
        try #require(proposed.status == 0, "\(proposed.output)")
        let approve = ["approve", try RepairDesk.identifier(proposed.output), "--reason", "I read it too."]
        let approved = try await run(approve, as: ken, at: client)
        try #require(approved.status == 0, "\(approved.output)")
    }

    static func identifier(_ output: String) throws -> String {
        String(try #require(output.firstMatch(of: /rep_[0-9a-f]{40}/)?.output))
    }
}

extension APIClient {
    /// What the operators' API says of a payment.
    func explanation(of id: String) async throws -> Answer {
        var operators = self
        operators.token = World.operatorToken
        return try await operators.send(.get, "/v1/payments/\(id)/explanation", admin: true)
    }

    /// The version that a proposal names.
    func version(of id: String) async throws -> String {
        String(try #require(try await explanation(of: id).json["version"] as? Int))
    }
}
