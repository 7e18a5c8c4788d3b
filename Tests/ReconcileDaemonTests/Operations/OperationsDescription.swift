import Yams

@testable import ReconcileDaemon

/// The description of the operations API, as the daemon serves it.
struct OperationsDescription {
    /// An operation of the description.
    struct Operation: Hashable {
        let method: String
        let path: String
    }

    let schemas: SchemaCheck
    private let paths: [String: JSONText]

    init(operations: String, payments: String) throws {
        let decoder = YAMLDecoder()
        let document = try decoder.decode(JSONText.self, from: operations)
        schemas = SchemaCheck(documents: [
            "operations.yaml": document, "payments.yaml": try decoder.decode(JSONText.self, from: payments),
        ])
        paths = document["paths"]?.members ?? [:]
    }

    /// Every operation that is served, with the statuses that it may answer.
    var served: [Operation: Set<Int>] {
        var found: [Operation: Set<Int>] = [:]
        for (path, item) in paths {
            for (method, operation) in item.members where method != "parameters" {
                guard operation["x-status"]?.string != "planned" else { continue }
                let statuses = operation["responses"]?.members.keys.compactMap { Int($0) } ?? []
                found[Operation(method: method.uppercased(), path: path)] = Set(statuses)
            }
        }
        return found
    }

    /// The paths and methods that are settled and not served.
    var planned: [Operation] {
        paths.flatMap { path, item in
            item.members.filter { $0.value["x-status"]?.string == "planned" }
                .map { Operation(method: $0.key.uppercased(), path: path) }
        }
    }

    /// What is wrong with a reply; empty if nothing is.
    func findings(_ reply: RunningOperations.Reply, to operation: Operation) -> [String] {
        let subject = "\(operation.method) \(operation.path) \(reply.status)"
        guard
            let response = paths[operation.path]?[operation.method.lowercased()]?["responses"]?[String(reply.status)]
                .map(follow)
        else { return ["\(subject): this status is not described: \(reply.text)"] }
        var found: [String] = []
        let headers = (response["headers"]?.members ?? [:]).mapValues(follow)
        if reply.headers["retry-after"] != nil, headers["Retry-After"] == nil {
            found.append("\(subject): Retry-After is not described")
        }
        for (name, header) in headers {
            guard let value = reply.headers[name.lowercased()] else {
                if header["required"] == .bool(true) { found.append("\(subject): no header \(name)") }
                continue
            }
            found += schemas.findings(
                Int64(value).map { .integer($0) } ?? .string(value), header["schema"] ?? .object([:]),
                in: "operations.yaml", at: "\(subject) \(name)")
        }
        let type = reply.headers["content-type"].map { String($0.prefix { $0 != ";" }) } ?? ""
        guard let schema = response["content"]?[type]?["schema"] else {
            return found + ["\(subject): the media type \(type) is not described"]
        }
        guard type.hasSuffix("json") else { return found }
        guard let document = try? reply.json() else { return found + ["\(subject): no JSON"] }
        return found + schemas.findings(document, schema, in: "operations.yaml", at: subject)
    }

    private func follow(_ node: JSONText) -> JSONText {
        guard let reference = node["$ref"]?.string else { return node }
        return schemas.resolved(reference, in: "operations.yaml")?.schema ?? .null
    }
}
