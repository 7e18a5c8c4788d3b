import APIDescription
import MemoryStore
import OperationsConsole
import Reconciler
import StoreContract
import Synchronization
import Testing

@testable import PaymentCore

/// The description of the operations API against what is served: each operation, in each status that it names.
@Suite struct OperationsDescriptionTests {
    typealias Operation = DescribedAPI.Operation

    private func description(_ api: RunningOperations) async throws -> DescribedAPI {
        let operations = try await api.send("GET", "/openapi.yaml", as: nil)
        let payments = try await api.send("GET", "/payments.yaml", as: nil)
        #expect(operations.status == 200 && payments.status == 200)
        #expect(operations.headers["content-type"] == "application/yaml")
        return try DescribedAPI(
            "operations.yaml", in: ["operations.yaml": operations.text, "payments.yaml": payments.text])
    }

    /// A generator reads one document: each has all that it needs, and what both describe is the same. Where its payer
    /// acts, a payment shows to its caller alone.
    @Test func `what both documents describe is the same in both`() async throws {
        try await RunningOperations.run(try OperationsBook()) { api in
            let operations = try await api.send("GET", "/openapi.yaml", as: nil).text
            let payments = try await api.send("GET", "/payments.yaml", as: nil).text
            #expect(try DescribedAPI.differing(operations, payments) == ["Payment", "Problem", "ProblemType"])
            #expect(!operations.contains(".yaml#/") && !payments.contains(".yaml#/"))
        }
    }

    @Test func `every documented operation answers as documented, in every status that it names`() async throws {
        let seen = Mutex<[Operation: Set<Int>]>([:])
        for exchange in Exchanges.parts {
            let book = try OperationsBook()
            let paths = try await Exchanges.Paths(book)
            try await RunningOperations.run(book, isEnabled: exchange.isEnabled, check: exchange.check) { api in
                let description = try await description(api)
                for step in try exchange.steps(book, paths) {
                    if let fault = step.fault { await book.store.failNext(fault.code, on: fault.operation) }
                    let reply = try await api.send(
                        step.operation.method, step.target, step.body, as: step.person,
                        contentType: step.contentType)
                    #expect(reply.status == step.status, "\(step.operation) \(step.target): \(reply.text)")
                    let findings = description.findings(reply.described, to: step.operation)
                    #expect(findings.isEmpty, "\(findings)")
                    seen.withLock { _ = $0[step.operation, default: []].insert(reply.status) }
                }
            }
            #expect(await book.store.unusedFaults == 0)
        }
        try await RunningOperations.run(try OperationsBook()) { api in
            let served = try await description(api).served
            #expect(served.count == 36)
            for (operation, statuses) in served {
                let missing = statuses.subtracting(seen.withLock { $0[operation] ?? [] })
                #expect(missing.isEmpty, "\(operation.method) \(operation.path) was not seen with \(missing.sorted())")
            }
        }
    }

    @Test func `nothing is described that is not served, and what is served is described`() async throws {
        try await RunningOperations.run(try OperationsBook()) { api in
            let description = try await description(api)
            for operation in description.served.keys {
                let target = operation.path.replacing("{id}", with: "x")
                let reply = try await api.send("DELETE", target)
                #expect(reply.status == 405, "\(operation.path): \(reply.text)")
                #expect(reply.headers["allow"]?.contains(operation.method) == true)
                let allowed = reply.headers["allow"]?.split(separator: ", ").map(String.init) ?? []
                // HEAD goes with GET, and is not described apart from it.
                #expect(allowed.contains("HEAD") == allowed.contains("GET"))
                for method in allowed where method != "HEAD" {
                    #expect(description.served[Operation(method: method, path: operation.path)] != nil)
                }
            }
        }
    }

    @Test func `a request is found by its path, and an undescribed answer is a finding`() throws {
        let text = """
            paths:
              /v1/things: {get: {responses: {"200": {description: All.}}}}
              /v1/things/{id}/parts:
                post:
                  responses:
                    "201":
                      headers: {Location: {required: true, schema: {type: string}}}
                      content: {application/json: {schema: {type: object, required: [id]}}}
            """
        let api = try DescribedAPI("things.yaml", in: ["things.yaml": text])
        let post = try #require(api.operation("POST", "/v1/things/x/parts?a=/b"))
        #expect(post == Operation(method: "POST", path: "/v1/things/{id}/parts"))
        #expect(api.operation("GET", "/v1/things") == Operation(method: "GET", path: "/v1/things"))
        for target in ["/v1/things/x", "/v1/things/x/parts/y", "/v1/others/x/parts"] {
            #expect(api.operation("POST", target) == nil, "\(target)")
        }
        func findings(_ status: Int, _ text: String, _ headers: [String: String]) -> [String] {
            api.findings(DescribedAPI.Reply(status: status, headers: headers, text: text), to: post)
        }
        let (json, place) = (["content-type": "application/json"], ["location": "/x"])
        let both = json.merging(place) { first, _ in first }
        #expect(findings(201, #"{"id":1}"#, both).isEmpty)
        for (status, text, headers) in [
            (200, #"{"id":1}"#, both), (201, "{}", both), (201, "none", both), (201, #"{"id":1}"#, json),
            (201, #"{"id":1}"#, place), (201, #"{"id":1}"#, both.merging(["retry-after": "1"]) { first, _ in first }),
        ] {
            #expect(findings(status, text, headers).count == 1, "\(status) \(text) \(headers)")
        }
    }

    @Test func `the check of documents finds what is wrong`() throws {
        let schema = try JSONText(
            #"""
            {"type":"object","required":["a"],"additionalProperties":false,
             "properties":{"a":{"type":"integer","minimum":1},
                           "b":{"oneOf":[{"type":"string","pattern":"^x$"},{"type":"null"}]}}}
            """#)
        let check = SchemaCheck(documents: [:])
        func findings(_ text: String) throws -> [String] { check.findings(try JSONText(text), schema, in: "-") }
        #expect(try findings(#"{"a":1,"b":null}"#).isEmpty)
        #expect(try findings(#"{"a":1,"b":"x"}"#).isEmpty)
        for wrong in [#"{}"#, #"{"a":0}"#, #"{"a":"1"}"#, #"{"a":true}"#, #"{"a":1,"b":"y"}"#, #"{"a":1,"c":1}"#, "[]"]
        {
            #expect(try !findings(wrong).isEmpty, "\(wrong)")
        }
        #expect(!check.findings(.null, try JSONText(#"{"unheard":1}"#), in: "-").isEmpty)
    }
}
