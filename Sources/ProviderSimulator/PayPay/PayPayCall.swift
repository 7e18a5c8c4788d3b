import Foundation

/// A call of PayPay's wire, as it reached the provider.
struct PayPayCall: Codable, Sendable, Equatable {
    /// What is asked for.
    enum Kind: String, Codable, Sendable {
        case sale, hold, capture, cancel, refund
        case payment, refundDetails

        /// The operation by which faults, counters and the journal know it.
        var operation: Operation {
            switch self {
            case .sale: .sale
            case .hold: .authorize
            case .capture: .capture
            case .cancel: .void
            case .refund: .refund
            case .payment: .inquire
            case .refundDetails: .inquireRefund
            }
        }
    }

    let kind: Kind
    /// `merchantPaymentId`; empty for refunds, which name a `paymentId`.
    var merchantPaymentID = ""
    /// PayPay's own identifier; empty where there is none.
    var paymentID = ""
    /// `merchantCaptureId` or `merchantRefundId`.
    var movementID = ""
    var amount: Amount?
    var metadata: [String: String] = [:]
    /// What the payer's authorization does. The identifier itself is kept nowhere.
    var behaviour = InstrumentBehaviour.approves
    /// Why it is refused, whatever the ledger says.
    var refusal: PayPayRefusal?
}

/// Turns messages of PayPay's wire into requests.
struct PayPayReader: WireReader {
    let provider: String
    /// Nil: any signature of the right form is good.
    let keys: PayPayKeys?
    /// Milliseconds since 1970, by the provider's clock.
    let now: @Sendable () -> Int64

    /// Nil when there is no such route.
    func read(_ message: ReceivedMessage) -> ProviderRequest? {
        guard message.path.first == "v2", message.path.count >= 2 else { return nil }
        let rest = Array(message.path.dropFirst())
        var call: PayPayCall
        switch (message.method, rest.count, rest[0]) {
        case ("POST", 1, "payments"): call = PayPayCall(kind: .sale)
        case ("POST", 2, "payments") where rest[1] == "preauthorize": call = PayPayCall(kind: .hold)
        case ("POST", 2, "payments") where rest[1] == "capture": call = PayPayCall(kind: .capture)
        case ("DELETE", 2, "payments"): call = PayPayCall(kind: .cancel, merchantPaymentID: rest[1])
        case ("GET", 2, "payments"): call = PayPayCall(kind: .payment, merchantPaymentID: rest[1])
        case ("POST", 1, "refunds"): call = PayPayCall(kind: .refund)
        case ("GET", 2, "refunds"): call = PayPayCall(kind: .refundDetails, movementID: rest[1])
        default: return nil
        }
        // The keys are read although the request may be refused: the journal shows them.
        do throws(PayPayRefusal) {
            try read(message, into: &call)
        } catch {
            call.refusal = error
        }
        if let refusal = authorize(message) { call.refusal = refusal }
        return ProviderRequest(
            provider: provider, operation: call.kind.operation, key: call.merchantPaymentID,
            entryKey: call.movementID, notAfter: nil, command: .paypay(call))
    }

    func unknownRoute(_ message: ReceivedMessage) -> Answer {
        let answer = PayPayAnswer(404, "RESOURCE_NOT_FOUND", "There is no such route.")
        return Answer(status: answer.status, content: .paypay(answer))
    }

    private func authorize(_ message: ReceivedMessage) -> PayPayRefusal? {
        guard let given = PayPayAuthorization(message.authorization), given.isGood(for: message, keys, now: now())
        else { return .unauthorized }
        guard let merchant = message.merchant, keys.map({ $0.merchant == merchant }) ?? true else {
            return .otherMerchant
        }
        return nil
    }

    private func read(_ message: ReceivedMessage, into call: inout PayPayCall) throws(PayPayRefusal) {
        switch call.kind {
        case .payment, .cancel: break
        case .refundDetails: call.paymentID = message.query["paymentId"] ?? ""
        case .sale, .hold:
            let body = try body(PayPayPaymentBody.self, of: message)
            call.merchantPaymentID = body.merchantPaymentId
            call.amount = try body.amount.inYen()
            call.metadata = body.metadata ?? [:]
            call.behaviour = InstrumentBehaviour(instrument: body.userAuthorizationId)
        case .capture:
            let body = try body(PayPayCaptureBody.self, of: message)
            call.merchantPaymentID = body.merchantPaymentId
            call.movementID = body.merchantCaptureId
            call.amount = try body.amount.inYen()
        case .refund:
            let body = try body(PayPayRefundBody.self, of: message)
            call.movementID = body.merchantRefundId
            call.paymentID = body.paymentId
            call.amount = try body.amount.inYen()
        }
        for id in [call.merchantPaymentID, call.movementID] where !id.isEmpty && !Self.isIdentifier(id) {
            (call.merchantPaymentID, call.movementID) = ("", "")
            throw .invalid("An identifier is 1 to 64 of a-z A-Z 0-9 - _")
        }
    }

    private func body<Body: Decodable>(
        _ type: Body.Type, of message: ReceivedMessage
    ) throws(PayPayRefusal) -> Body {
        do {
            return try JSONDecoder().decode(type, from: message.body ?? Data())
        } catch let error as DecodingError {
            if case .keyNotFound(let key, _) = error {
                throw PayPayRefusal(400, "MISSING_REQUEST_PARAMS", key.stringValue)
            }
            throw .invalid(error.explanation)
        } catch {
            throw .invalid("The body is not JSON")
        }
    }

    static func isIdentifier(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }
}
