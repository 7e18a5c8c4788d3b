import PaymentCore

/// Bodies as the contract's provider writes them.
enum WireBodies {
    static func transaction(
        _ status: String, key: EffectKey, kind: String? = "authorize", value: Int64? = 1200, currency: String = "JPY",
        captures: [String] = [], refunds: [String] = [], payment: String? = nil, leg: String? = nil,
        reason: String? = nil, until: String? = nil, updated: String = "2026-03-01T11:00:01.5Z",
        disputes: String? = nil
    ) -> String {
        let amount = value.map { #"{"value":\#($0),"currency":"\#(currency)"}"# } ?? "null"
        let members = [("payment", payment), ("leg", leg)].compactMap { name, value in
            value.map { #""\#(name)":"\#($0)""# }
        }
        let metadata = "{" + members.joined(separator: ",") + "}"
        return """
            {"key":"\(key.text)","kind":\(quoted(kind)),"status":"\(status)","amount":\(amount),\
            "captures":[\(captures.joined(separator: ","))],"refunds":[\(refunds.joined(separator: ","))],\
            "created_at":"2026-03-01T11:00:00Z","updated_at":"\(updated)",\
            \(disputes.map { #""disputes":\#($0),"# } ?? "")\
            "authorized_until":\(quoted(until)),"metadata":\(metadata),"reason":\(quoted(reason)),\
            "a_member_of_tomorrow":{"deep":[1,2,3]}}
            """
    }

    static func tombstone(key: EffectKey) -> String {
        transaction("tombstoned", key: key, kind: nil, value: nil)
    }

    static func movement(
        _ key: EffectKey, _ status: String, value: Int64 = 1200, currency: String = "JPY", reason: String? = nil
    ) -> String {
        """
        {"key":"\(key.text)","amount":{"value":\(value),"currency":"\(currency)"},"status":"\(status)",\
        "created_at":"2026-03-01T11:00:01Z","reason":\(quoted(reason))}
        """
    }

    static func problem(_ type: String, status: Int?, key: EffectKey? = nil) -> String {
        let member = status.map { #","status":\#($0)"# } ?? ""
        let named = key.map { #","key":"\#($0.text)""# } ?? ""
        return #"{"type":"\#(type)","title":"A title"\#(member)\#(named)}"#
    }

    static let html = "<html><body><h1>404 Not Found</h1></body></html>"

    private static func quoted(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "null" }
}
