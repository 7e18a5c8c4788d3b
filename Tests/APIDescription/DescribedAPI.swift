internal import Yams

/// A description of an API in OpenAPI, against which replies are held.
package struct DescribedAPI: Sendable {
    /// An operation of the description.
    package struct Operation: Hashable, Sendable {
        package let method: String
        /// The path with its parameters in braces.
        package let path: String

        package init(method: String, path: String) {
            self.method = method
            self.path = path
        }
    }

    /// What was answered.
    package struct Reply: Sendable {
        package let status: Int
        /// By their names in lower case.
        package let headers: [String: String]
        package let text: String

        package init(status: Int, headers: [String: String], text: String) {
            self.status = status
            self.headers = headers
            self.text = text
        }
    }

    private let schemas: SchemaCheck
    private let name: String
    private let paths: [String: JSONText]

    /// - Parameters:
    ///   - name: which of the documents describes the API.
    ///   - documents: YAML by name, as references name it.
    package init(_ name: String, in documents: [String: String]) throws {
        let decoder = YAMLDecoder()
        let read = try documents.mapValues { try decoder.decode(JSONText.self, from: $0) }
        self.name = name
        schemas = SchemaCheck(documents: read)
        paths = read[name]?["paths"]?.members ?? [:]
    }

    /// The schemas that two documents describe under one name and not alike.
    package static func differing(_ document: String, _ other: String) throws -> [String] {
        let decoder = YAMLDecoder()
        let schemas = try [document, other].map { text in
            try decoder.decode(JSONText.self, from: text)["components"]?["schemas"]?.members ?? [:]
        }
        return schemas[0].filter { name, schema in schemas[1][name].map { $0 != schema } ?? false }.keys.sorted()
    }

    /// Every operation that is served, with the statuses that it may answer.
    package var served: [Operation: Set<Int>] {
        var found: [Operation: Set<Int>] = [:]
        for (path, item) in paths {
            for (method, operation) in item.members where method != "parameters" {
                let statuses = operation["responses"]?.members.keys.compactMap { Int($0) } ?? []
                found[Operation(method: method.uppercased(), path: path)] = Set(statuses)
            }
        }
        return found
    }

    /// The operation of a request; `nil` if none is described for it.
    package func operation(_ method: String, _ target: String) -> Operation? {
        let parts = target.prefix { $0 != "?" }.split(separator: "/", omittingEmptySubsequences: false)
        let path = paths.keys.first { path in
            let own = path.split(separator: "/", omittingEmptySubsequences: false)
            return own.count == parts.count && zip(own, parts).allSatisfy { $0.hasPrefix("{") || $0 == $1 }
        }
        guard let path, paths[path]?[method.lowercased()] != nil else { return nil }
        return Operation(method: method, path: path)
    }

    /// What is wrong with a reply; empty if nothing is.
    package func findings(_ reply: Reply, to operation: Operation) -> [String] {
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
        for (header, rule) in headers {
            guard let value = reply.headers[header.lowercased()] else {
                if rule["required"] == .bool(true) { found.append("\(subject): no header \(header)") }
                continue
            }
            found += schemas.findings(
                Int64(value).map { .integer($0) } ?? .string(value), rule["schema"] ?? .object([:]),
                in: name, at: "\(subject) \(header)")
        }
        let type = reply.headers["content-type"].map { String($0.prefix { $0 != ";" }) } ?? ""
        guard let schema = response["content"]?[type]?["schema"] else {
            return found + ["\(subject): the media type \(type) is not described"]
        }
        guard type.hasSuffix("json") else { return found }
        guard let document = try? JSONText(reply.text) else { return found + ["\(subject): no JSON"] }
        return found + schemas.findings(document, schema, in: name, at: subject)
    }

    private func follow(_ node: JSONText) -> JSONText {
        guard let reference = node["$ref"]?.string else { return node }
        return schemas.resolved(reference, in: name)?.schema ?? .null
    }
}
