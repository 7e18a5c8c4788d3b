import Crypto
import Foundation

/// A call of Adyen's wire, as it reached the provider.
struct AdyenCall: Codable, Sendable, Equatable {
    /// What is asked for.
    enum Kind: String, Codable, Sendable {
        case payment, capture, refund
        /// Of a payment by Adyen's reference, or by the merchant's.
        case cancel, technicalCancel

        /// The operation by which faults, counters and the journal know it.
        var operation: Operation {
            switch self {
            case .payment: .authorize
            case .capture: .capture
            case .refund: .refund
            case .cancel, .technicalCancel: .void
            }
        }
    }

    let kind: Kind
    /// Of the header; nil for none.
    var idempotencyKey: String?
    /// Adyen's reference of the payment, in the path; empty where there is none.
    var payment = ""
    /// The merchant's account.
    var merchant = ""
    /// The merchant's reference of what is asked for.
    var reference = ""
    /// The merchant's reference of the payment that is canceled by it.
    var paymentReference = ""
    var amount: Amount?
    var metadata: [String: String] = [:]
    /// What the stored card does. The identifier itself is kept nowhere.
    var behaviour = InstrumentBehaviour.approves
    /// Why it is refused, whatever the ledger says.
    var refusal: AdyenRefusal?
}

/// Turns messages of Adyen's wire into requests.
struct AdyenReader: WireReader {
    let provider: String
    /// Nil: any key and any account are good.
    let keys: AdyenKeys?

    /// Nil when there is no such route.
    func read(_ message: ReceivedMessage) -> ProviderRequest? {
        guard message.method == "POST", message.path.count >= 2, message.path[0].first == "v" else { return nil }
        let rest = Array(message.path.dropFirst())
        var call: AdyenCall
        switch (rest.count, rest[0], rest.last ?? "") {
        case (1, "payments", _): call = AdyenCall(kind: .payment)
        case (1, "cancels", _): call = AdyenCall(kind: .technicalCancel)
        case (3, "payments", "captures"): call = AdyenCall(kind: .capture, payment: rest[1])
        case (3, "payments", "refunds"): call = AdyenCall(kind: .refund, payment: rest[1])
        case (3, "payments", "cancels"): call = AdyenCall(kind: .cancel, payment: rest[1])
        default: return nil
        }
        call.idempotencyKey = message.idempotencyKey
        do throws(AdyenRefusal) {
            try read(message, into: &call)
        } catch {
            call.refusal = error
        }
        if let keys, message.apiKey.map(keys.isGood) != true { call.refusal = .unauthorized }
        // By the reference, as the ledger knows it: the key in the journal of a modification is its payment's.
        let key = call.kind == .payment ? call.reference : call.paymentReference
        return ProviderRequest(
            provider: provider, operation: call.kind.operation, key: key,
            entryKey: call.kind == .payment ? "" : call.reference, notAfter: nil, command: .adyen(call))
    }

    func unknownRoute(_ message: ReceivedMessage) -> Answer {
        let answer = AdyenAnswer(AdyenRefusal(404, "000", "There is no such route.", "validation"))
        return Answer(status: answer.status, content: .adyen(answer))
    }

    private func read(_ message: ReceivedMessage, into call: inout AdyenCall) throws(AdyenRefusal) {
        switch call.kind {
        case .payment:
            let body = try body(AdyenPaymentBody.self, of: message)
            call.merchant = body.merchantAccount
            call.reference = body.reference
            call.amount = body.amount
            call.metadata = body.metadata ?? [:]
            call.behaviour = InstrumentBehaviour(instrument: body.paymentMethod.storedPaymentMethodId)
        case .capture, .refund:
            let body = try body(AdyenModificationBody.self, of: message)
            call.merchant = body.merchantAccount
            call.reference = body.reference ?? ""
            call.amount = body.amount
            guard body.amount != nil else { throw .invalid("Required field 'amount' is not provided.") }
        case .cancel, .technicalCancel:
            let body = try body(AdyenModificationBody.self, of: message)
            call.merchant = body.merchantAccount
            call.reference = body.reference ?? ""
            call.paymentReference = body.paymentReference ?? ""
            guard call.kind == .cancel || !call.paymentReference.isEmpty else {
                throw .invalid("Required field 'paymentReference' is not provided.")
            }
        }
        guard keys.map({ $0.merchant == call.merchant }) ?? true else { throw .otherMerchant }
        guard call.reference.utf8.count <= 80, call.kind != .payment || !call.reference.isEmpty else {
            throw .invalid("Required field 'reference' is not provided.")
        }
    }

    private func body<Body: Decodable>(_ type: Body.Type, of message: ReceivedMessage) throws(AdyenRefusal) -> Body {
        do {
            return try JSONDecoder().decode(type, from: message.body ?? Data())
        } catch let error as DecodingError {
            throw .invalid(error.explanation)
        } catch {
            throw .invalid("The body is not JSON")
        }
    }
}

/// What a caller of Adyen's wire is known by. It never describes itself.
struct AdyenKeys: Sendable, CustomStringConvertible {
    let merchant: String
    private let key: BearerToken

    /// Reads `MERCHANT_ACCOUNT:API_KEY`.
    init?(_ token: String) {
        let parts = token.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, !parts.contains("") else { return nil }
        merchant = parts[0]
        key = BearerToken(parts[1])
    }

    func isGood(_ presented: String) -> Bool { key.matches(presented) }

    var description: String { "AdyenKeys(redacted)" }
}

/// The body of `POST /payments`.
struct AdyenPaymentBody: Decodable {
    struct Method: Decodable {
        let type: String
        let storedPaymentMethodId: String
    }

    let merchantAccount: String
    let reference: String
    let amount: Amount
    let paymentMethod: Method
    let shopperReference: String
    let shopperInteraction: String
    let metadata: [String: String]?
}

/// The body of a capture, a refund or a cancel.
struct AdyenModificationBody: Decodable {
    let merchantAccount: String
    let reference: String?
    let amount: Amount?
    let paymentReference: String?
}
