/// Bodies in the shapes of Stripe's public reference (docs.stripe.com/api), with what decisions need.
enum StripeBodies {
    static let key = String(repeating: "ab12", count: 16)

    static func intent(
        _ status: String, id: String = "pi_1", amount: Int = 1200, received: Int = 0, group: String = key,
        currency: String = "jpy", metadata: [String: String] = [:], reason: String? = nil, charge: String? = nil
    ) -> String {
        """
        {"id":"\(id)","object":"payment_intent","amount":\(amount),"amount_capturable":0,"amount_received":\(received),\
        "cancellation_reason":\(reason.map { "\"\($0)\"" } ?? "null"),"capture_method":"manual",\
        "currency":"\(currency)","latest_charge":\(charge ?? "null"),"livemode":false,\
        "metadata":\(Self.metadata(metadata)),"status":"\(status)","transfer_group":"\(group)"}
        """
    }

    static func charge(
        _ status: String = "succeeded", id: String = "ch_1", amount: Int = 1200, captured: Int = 0,
        group: String = key, intent: String = "\"pi_1\"", refunds: [String]? = [], hasMore: Bool = false,
        before: Int? = 1_772_970_000, failure: String? = nil, isDisputed: Bool = false
    ) -> String {
        let list = refunds.map {
            ",\"refunds\":{\"object\":\"list\",\"data\":[\($0.joined(separator: ","))],\"has_more\":\(hasMore)}"
        }
        return """
            {"id":"\(id)","object":"charge","amount":\(amount),"amount_captured":\(captured),"amount_refunded":0,\
            "captured":\(captured > 0),"created":1772366400,"currency":"jpy","disputed":\(isDisputed),\
            "failure_code":\(failure.map { "\"\($0)\"" } ?? "null"),"metadata":{},"paid":true,\
            "payment_intent":\(intent),"payment_method_details":{"type":"card","card":{"brand":"visa",\
            "capture_before":\(before.map { String($0) } ?? "null")}},"refunded":false,"status":"\(status)",\
            "transfer_group":"\(group)"\(list ?? "")}
            """
    }

    static func refund(
        _ status: String = "succeeded", id: String = "re_1", amount: Int = 300, key: String? = "ours",
        reason: String? = nil
    ) -> String {
        """
        {"id":"\(id)","object":"refund","amount":\(amount),"charge":"ch_1","currency":"jpy",\
        "failure_reason":\(reason.map { "\"\($0)\"" } ?? "null"),\
        "metadata":\(metadata(key.map { ["reconciled_key": $0] } ?? [:])),"payment_intent":"pi_1","status":"\(status)"}
        """
    }

    static func dispute(
        _ status: String, id: String = "dp_1", amount: Int = 1200, currency: String = "jpy",
        isRefundable: Bool? = false, movedAt: [Int] = []
    ) -> String {
        let refundable = isRefundable.map { "\"is_charge_refundable\":\($0)," } ?? ""
        let movements = movedAt.map { "{\"id\":\"txn_\($0)\",\"created\":\($0)}" }.joined(separator: ",")
        return """
            {"id":"\(id)","object":"dispute","amount":\(amount),"balance_transactions":[\(movements)],"charge":"ch_1",\
            "currency":"\(currency)",\(refundable)"status":"\(status)"}
            """
    }

    static func list(_ items: [String], hasMore: Bool = false) -> String {
        """
        {"object":"list","data":[\(items.joined(separator: ","))],"has_more":\(hasMore),"url":"/v1/charges"}
        """
    }

    static func error(
        _ type: String, code: String? = nil, decline: String? = nil, parameter: String? = nil, intent: String? = nil
    ) -> String {
        var members = ["\"type\":\"\(type)\"", "\"message\":\"What it says to people is not read.\""]
        if let code { members.append("\"code\":\"\(code)\"") }
        if let decline { members.append("\"decline_code\":\"\(decline)\"") }
        if let parameter { members.append("\"param\":\"\(parameter)\"") }
        if let intent { members.append("\"payment_intent\":\(intent)") }
        return "{\"error\":{\(members.joined(separator: ","))}}"
    }

    private static func metadata(_ texts: [String: String]) -> String {
        "{" + texts.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\"\($0.value)\"" }.joined(separator: ",") + "}"
    }
}
