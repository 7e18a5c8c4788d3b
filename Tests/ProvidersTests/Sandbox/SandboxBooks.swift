import Foundation
import HTTPTransport

@testable import PaymentCore

/// Reads a provider's own objects, with nothing of its adapter but the credentials.
struct SandboxReader: Sendable {
    /// Signs and sends.
    let sender: any HTTPSender
    /// Where the sandbox is.
    let url: String

    /// What is at a path; `nil` where the provider says that there is nothing.
    func object(at path: String) async throws -> [String: Any]? {
        var request = HTTPRequest(method: .get, url: url + path, label: "read_books")
        request.fields["Accept"] = "application/json"
        let answer = try await sender.send(request)
        if answer.status == 404 { return nil }
        guard answer.status == 200,
            let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        else { throw UnreadableBooks(status: answer.status) }
        return object
    }
}

/// The books of a sandbox could not be read.
struct UnreadableBooks: Error {
    let status: Int
}

/// How the books of each kind of sandbox are read under a key.
enum SandboxBooks {
    typealias Reading = @Sendable (_ reader: SandboxReader, _ key: EffectKey) async throws -> SuiteBooks

    /// docs.stripe.com/api/charges/list
    static let stripe: Reading = { reader, key in
        let path = "/v1/charges?transfer_group=\(key.text)&limit=100&expand%5B%5D=data.refunds"
        var books = SuiteBooks()
        for charge in list(try await reader.object(at: path), "data") where text(charge, "status") == "succeeded" {
            books.holds += 1
            if charge["captured"] as? Bool == true {
                books.charges += 1
                books.net += number(charge, "amount_captured")
            } else if charge["refunded"] as? Bool != true {
                books.held += number(charge, "amount")
            }
            // What a cancel or a capture of a part gives free moves nothing.
            for refund in list(charge["refunds"] as? [String: Any], "data")
            where refund["balance_transaction"] is String && text(refund, "status") != "failed" {
                books.net -= number(refund, "amount")
            }
        }
        return books
    }

    /// www.paypay.ne.jp/opa/doc/v1.0/direct_debit, "Get payment details"
    static let payPay: Reading = { reader, key in
        var books = SuiteBooks()
        let answer = try await reader.object(at: "/v2/payments/\(key.text)")
        guard let payment = answer?["data"] as? [String: Any] else { return books }
        let amount = number(payment["amount"] as? [String: Any], "amount")
        let refunds = list(payment["refunds"] as? [String: Any], "data")
        let captures = list(payment["captures"] as? [String: Any], "data").filter { text($0, "status") == "COMPLETED" }
        let given = refunds.filter { text($0, "status") == "REFUNDED" }.reduce(0) {
            $0 + number($1["amount"] as? [String: Any], "amount")
        }
        switch text(payment, "status") {
        case "AUTHORIZED": (books.holds, books.held) = (1, amount)
        case "CANCELED", "EXPIRED": books.holds = 1
        case "COMPLETED", "REFUNDED":
            let taken = captures.reduce(0) { $0 + number($1["amount"] as? [String: Any], "amount") }
            (books.holds, books.charges) = (captures.isEmpty ? 0 : 1, 1)
            books.net = (captures.isEmpty ? amount : taken) - given
        default: break
        }
        return books
    }

    /// `openapi/provider.yaml`
    static let reference: Reading = { reader, key in
        var books = SuiteBooks()
        guard let transaction = try await reader.object(at: "/transactions/\(key.text)") else { return books }
        let amount = number(transaction["amount"] as? [String: Any], "value")
        func moved(_ name: String) -> [Int64] {
            list(transaction, name).filter { text($0, "status") == "succeeded" }.map {
                number($0["amount"] as? [String: Any], "value")
            }
        }
        let isHold = text(transaction, "kind") == "authorize"
        let captures = moved("captures")
        switch text(transaction, "status") {
        case "authorized": (books.holds, books.held) = (1, amount)
        case "voided", "expired": books.holds = isHold ? 1 : 0
        case "captured":
            books.holds = isHold ? 1 : 0
            books.charges = isHold ? captures.count : 1
            books.net = (isHold ? captures.reduce(0, +) : amount) - moved("refunds").reduce(0, +)
        default: break
        }
        return books
    }

    /// No request reads a payment at Adyen.
    static let none: Reading = { _, _ in throw UnreadableBooks(status: 0) }

    private static func list(_ object: [String: Any]?, _ name: String) -> [[String: Any]] {
        object?[name] as? [[String: Any]] ?? []
    }

    private static func text(_ object: [String: Any], _ name: String) -> String? { object[name] as? String }

    private static func number(_ object: [String: Any]?, _ name: String) -> Int64 {
        (object?[name] as? NSNumber)?.int64Value ?? 0
    }
}
