import Foundation
import Testing

@testable import ReconciledClient

/// The headers of a webhook, and what is signed and cannot be read.
@Suite struct WebhookFormTests {
    private static let names = ["webhook-id", "webhook-timestamp", "webhook-signature"]

    private func refusal(_ headers: [String: String]) -> WebhookError? {
        do {
            let verifier = try WebhookVerifier(secrets: [SigningSecret.old.text])
            _ = try verifier.verify(headers: headers, body: SignedDelivery().body, now: SignedDelivery.sentAt)
            return nil
        } catch {
            return error as? WebhookError ?? .unreadable("\(error)")
        }
    }

    // MARK: Headers

    @Test(arguments: names) func `a header that is missing is named, and an empty one is not in form`(_ name: String) {
        var headers = SignedDelivery().headers
        headers[name] = ""
        #expect(refusal(headers) == .malformedHeader(name))
        headers[name] = nil
        #expect(refusal(headers) == .missingHeader(name))
        #expect("\(WebhookError.missingHeader(name))".hasPrefix("the header \(name) is missing; it has "))
    }

    @Test func `upper and lower case make no difference in names`() {
        let headers = SignedDelivery().headers
        #expect(refusal(Dictionary(uniqueKeysWithValues: headers.map { ($0.uppercased(), $1) })) == nil)
        #expect(refusal(Dictionary(uniqueKeysWithValues: headers.map { ($0.capitalized, $1) })) == nil)
    }

    @Test(arguments: names) func `a name that is there twice is refused`(_ name: String) {
        var headers = SignedDelivery().headers
        headers[name.uppercased()] = headers[name]
        #expect(refusal(headers) == .malformedHeader(name))
    }

    @Test func `a function is asked for names in lowercase`() throws {
        let sent = SignedDelivery()
        let verifier = try WebhookVerifier(secrets: [SigningSecret.old.text])
        var asked: [String] = []
        _ = try verifier.verify(
            headers: { name in
                asked.append(name)
                return sent.headers[name]
            }, body: sent.body, now: SignedDelivery.sentAt)
        #expect(Set(asked) == Set(Self.names))
    }

    @Test func `an id may have 256 bytes`() {
        #expect(SignedDelivery(id: "!~" + String(repeating: "x", count: 254)).refusal() == nil)
        #expect(
            SignedDelivery(id: String(repeating: "x", count: 257)).refusal() == .malformedHeader("webhook-id"))
    }

    @Test(arguments: ["msg 1", "msg.1", ".", "msg_ä", "msg\n", "\u{7F}", "msg_1, msg_2"])
    func `an id of other characters is refused, even signed`(_ id: String) {
        #expect(SignedDelivery(id: id).refusal() == .malformedHeader("webhook-id"))
    }

    @Test(arguments: [
        "-1768471200", "+1768471200", "1768471200.0", "1768471200 ", "1.7e9", "0x6968", "now", "١٧٦٨٤٧١٢٠٠",
        "0001768471200",
    ])
    func `a moment that is not whole seconds is refused, even signed`(_ timestamp: String) {
        #expect(SignedDelivery(timestamp: timestamp).refusal() == .malformedHeader("webhook-timestamp"))
    }

    @Test func `what is signed is how the moment is written`() {
        #expect(SignedDelivery(timestamp: "001768471200").refusal() == nil)
        var other = SignedDelivery()
        other.timestamp = "0" + other.timestamp
        #expect(other.refusal() == .wrongSignature)
        #expect(SignedDelivery(timestamp: "999999999999").refusal() == .fromTheFuture)
    }

    @Test(arguments: [
        " ", "v1", "v1,", ",", "v1,AAAA", "v1,no base64", "v1,\(String(repeating: "A", count: 44))",
        "v1,\(String(repeating: "g", count: 64))", "\u{0}",
    ])
    func `signatures that are not in form are refused, even beside a right one`(_ signature: String) {
        var sent = SignedDelivery()
        let right = sent.signature
        sent.signature = signature
        #expect(sent.refusal() == .malformedHeader("webhook-signature"))
        guard signature != " " else { return }
        sent.signature = "\(right) \(signature)"
        #expect(sent.refusal() == .malformedHeader("webhook-signature"))
    }

    @Test func `the signatures may have 4096 bytes, and 16 of them are compared`() {
        var sent = SignedDelivery()
        let right = sent.signature
        let filler = "v9," + String(repeating: "x", count: 4_096 - 4 - right.utf8.count)
        sent.signature = "\(filler) \(right)"
        #expect(sent.signature.utf8.count == 4_096 && sent.refusal() == nil)
        sent.signature = "\(filler)x \(right)"
        #expect(sent.refusal() == .malformedHeader("webhook-signature"))

        let wrong = Array(repeating: SignedDelivery(by: .stranger).signature, count: 15)
        sent.signature = (wrong + [right]).joined(separator: " ")
        #expect(sent.refusal() == nil)
        sent.signature = (wrong + [right, right]).joined(separator: " ")
        #expect(sent.refusal() == .malformedHeader("webhook-signature"))
    }

    // MARK: Bodies

    @Test(arguments: ["payment.archived", "", "日本語"])
    func `a type that is not known is given as it is`(_ type: String) throws {
        #expect(try SignedDelivery(body: SignedDelivery.message(type)).verified().type == type)
    }

    @Test func `members that are not known are left out`() throws {
        let body = #"{"data": \#(SignedDelivery.payment), "later": [1], "type": "payment.updated"}"#
        #expect(try SignedDelivery(body: body).verified().payment.id == Sample.payment)
    }

    @Test func `a body that is a part of other data counts by its own bytes`() throws {
        var sent = SignedDelivery()
        sent.body = (Data("before".utf8) + sent.body).dropFirst(6)
        #expect(try sent.verified().payment.id == Sample.payment)
    }

    @Test(arguments: [
        ("", "the body is not JSON, or a number in it is out of range"),
        ("{", "the body is not JSON, or a number in it is out of range"),
        ("[]", "the body is of another type"), (#""payment.updated""#, "the body is of another type"),
        ("{}", "type is missing"), (#"{"type": 1}"#, "type is of another type"),
        (#"{"type": null}"#, "type is null"), (#"{"type": "payment.updated"}"#, "data is missing"),
        (#"{"type": "payment.updated", "data": "pay_1"}"#, "data is of another type"),
        (#"{"type": "payment.updated", "data": {}}"#, "data.id is missing"),
        (
            SignedDelivery.message().replacing(#""value": 1500"#, with: #""value": "1500""#),
            "data.amount.value is of another type"
        ),
        (
            SignedDelivery.message().replacing(#""id": "ref_1", "#, with: ""), "data.refunds.0.id is missing"
        ),
    ])
    func `a body that is signed and is no webhook is unreadable`(_ body: String, _ why: String) {
        let sent = SignedDelivery(body: body)
        #expect(sent.refusal() == .unreadable(why))
        // Nothing of it is read before its signature was found right, and its moment.
        #expect(sent.refusal(with: [.stranger]) == .wrongSignature)
        #expect(sent.refusal(after: 301) == .tooOld)
    }
}
