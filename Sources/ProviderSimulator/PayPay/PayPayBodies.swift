/// An amount of PayPay's wire.
struct PayPayMoney: Decodable {
    let amount: Int64
    let currency: String

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case amount, currency
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        amount = try container.decode(Int64.self, forKey: .amount)
        currency = try container.decode(String.self, forKey: .currency)
    }

    func inYen() throws(PayPayRefusal) -> Amount {
        guard currency == "JPY" else { throw .invalid("The currency is JPY") }
        guard (1...99_999_999_999).contains(amount) else { throw .invalid("An amount has 1 to 11 digits") }
        return Amount(value: amount, currency: currency)
    }
}

/// The body of `POST /v2/payments` and `POST /v2/payments/preauthorize`.
struct PayPayPaymentBody: Decodable {
    let merchantPaymentId: String
    let userAuthorizationId: String
    let amount: PayPayMoney
    let requestedAt: Int64
    let metadata: [String: String]?

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case merchantPaymentId, userAuthorizationId, amount, requestedAt, metadata, orderDescription
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        merchantPaymentId = try container.decode(String.self, forKey: .merchantPaymentId)
        userAuthorizationId = try container.decode(String.self, forKey: .userAuthorizationId)
        amount = try container.decode(PayPayMoney.self, forKey: .amount)
        requestedAt = try container.decode(Int64.self, forKey: .requestedAt)
        metadata = try container.decodeIfPresent([String: String].self, forKey: .metadata)
        try container.refuseLong(.orderDescription)
    }
}

/// The body of `POST /v2/payments/capture`.
struct PayPayCaptureBody: Decodable {
    let merchantPaymentId: String
    let merchantCaptureId: String
    let amount: PayPayMoney
    let requestedAt: Int64
    let orderDescription: String

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case merchantPaymentId, merchantCaptureId, amount, requestedAt, orderDescription
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        merchantPaymentId = try container.decode(String.self, forKey: .merchantPaymentId)
        merchantCaptureId = try container.decode(String.self, forKey: .merchantCaptureId)
        amount = try container.decode(PayPayMoney.self, forKey: .amount)
        requestedAt = try container.decode(Int64.self, forKey: .requestedAt)
        orderDescription = try container.decode(String.self, forKey: .orderDescription)
        try container.refuseLong(.orderDescription)
    }
}

/// The body of `POST /v2/refunds`.
struct PayPayRefundBody: Decodable {
    let merchantRefundId: String
    let paymentId: String
    let amount: PayPayMoney
    let requestedAt: Int64

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case merchantRefundId, paymentId, amount, requestedAt, reason
    }

    init(from decoder: any Decoder) throws {
        try decoder.refuseMembers(besides: CodingKeys.allCases)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        merchantRefundId = try container.decode(String.self, forKey: .merchantRefundId)
        paymentId = try container.decode(String.self, forKey: .paymentId)
        amount = try container.decode(PayPayMoney.self, forKey: .amount)
        requestedAt = try container.decode(Int64.self, forKey: .requestedAt)
        try container.refuseLong(.reason)
    }
}

extension KeyedDecodingContainer {
    /// Words for people have 255 characters at the most.
    fileprivate func refuseLong(_ key: Key) throws {
        guard let text = try decodeIfPresent(String.self, forKey: key), text.count > 255 else { return }
        throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "at most 255 characters")
    }
}
