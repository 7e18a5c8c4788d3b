import APIDescription
import Foundation
import HTTPTransport
import Testing

/// The description of the callers' API. Each answer that a caller gets in these tests is held against it.
enum PaymentsDescription {
    private static let api: Result<DescribedAPI, any Error> = Result {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "openapi/payments.yaml")
        return try DescribedAPI(
            "payments.yaml", in: ["payments.yaml": try String(contentsOf: file, encoding: .utf8)])
    }

    /// Records what the description does not say of an answer. A request that it does not have is a test of bad input.
    static func hold(_ response: HTTPResponse, to method: HTTPMethod, _ target: String) {
        do {
            let api = try api.get()
            guard let operation = api.operation(method.rawValue, target) else { return }
            let headers = response.fields.all.map { ($0.name.lowercased(), $0.value) }
            let reply = DescribedAPI.Reply(
                status: response.status, headers: Dictionary(headers, uniquingKeysWith: { first, _ in first }),
                text: String(decoding: response.body, as: UTF8.self))
            let findings = api.findings(reply, to: operation)
            #expect(findings.isEmpty, "\(findings.joined(separator: "; ")): \(reply.text)")
        } catch {
            Issue.record("the description cannot be read: \(error)")
        }
    }
}
