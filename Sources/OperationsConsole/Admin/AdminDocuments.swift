internal import Foundation

/// What a probe answers.
struct ProbeDocument: Encodable {
    private struct Check: Encodable {
        let name: String
        let status: CheckResult.Status
        let reason: String?

        enum CodingKeys: String, CodingKey { case name, status, reason }

        /// The reason is there even where it is null.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
            try container.encode(status, forKey: .status)
            try container.encode(reason, forKey: .reason)
        }
    }

    private let status: CheckResult.Status
    private let checks: [Check]?

    init(_ results: [NamedResult], isVerbose: Bool) {
        status = results.allSatisfy { $0.result.status == .pass } ? .pass : .fail
        let all = results.map { Check(name: $0.name, status: $0.result.status, reason: $0.result.reason) }
        checks = isVerbose ? all : nil
    }

    var httpStatus: Int { status == .pass ? 200 : 503 }
}

/// Writes documents with sorted members, so that the same content is the same bytes.
enum AdminJSON {
    static func bytes(_ document: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(document))
    }
}
