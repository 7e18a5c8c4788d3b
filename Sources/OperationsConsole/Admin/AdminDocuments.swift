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

/// An error of the operations API (RFC 9457).
struct AdminProblem: Error, Encodable, Hashable {
    let type: String
    let title: String
    let status: Int
    var detail: String?
    var retryable = false
    /// The methods that the route takes, with 405; a header, and no member of the document.
    var allow: [String] = []

    static let unauthorized = AdminProblem(type: "/problems/unauthorized", title: "Unauthorized", status: 401)
    static let notFound = AdminProblem(type: "/problems/not-found", title: "Not found", status: 404)
    static let unsupportedMediaType = AdminProblem(
        type: "/problems/unsupported-media-type", title: "Unsupported media type", status: 415,
        detail: "Must be application/json in UTF-8.")
    static let unexpectedBody = AdminProblem(
        type: "/problems/invalid-request", title: "Invalid request", status: 400, detail: "No body is taken here.")

    static func methodNotAllowed(_ allowed: [String]) -> AdminProblem {
        AdminProblem(
            type: "/problems/invalid-request", title: "Method not allowed", status: 405,
            detail: "Allowed: \(allowed.joined(separator: ", ")).", allow: allowed)
    }

    static func bodyTooLarge(limit: Int) -> AdminProblem {
        AdminProblem(
            type: "/problems/body-too-large", title: "Body too large", status: 413, detail: "At most \(limit) bytes.")
    }

    static func incomplete(_ detail: String) -> AdminProblem {
        AdminProblem(
            type: "/problems/invalid-request", title: "Invalid request", status: 400, detail: detail, retryable: true)
    }

    enum CodingKeys: String, CodingKey { case type, title, status, detail, retryable }
}

/// Writes documents with sorted members, so that the same content is the same bytes.
enum AdminJSON {
    static func bytes(_ document: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(document))
    }
}
