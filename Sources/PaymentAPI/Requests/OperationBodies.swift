internal import HTTPEdge
internal import PaymentCore
internal import StrictJSON

/// The body of `POST …/capture`.
struct CaptureBody: Sendable, Hashable {
    /// The amounts by leg; `nil` captures every leg in full.
    var amounts: [Int: Money]?

    init(_ document: JSONValue) throws(Problem) {
        let fields = try ObjectFields(document, at: .root, allowed: ["legs"])
        guard let legs = fields["legs"] else { return }
        amounts = try LegAmounts.read(legs, at: FieldPath.root.member("legs"))
    }
}

/// The body of `POST …/cancel`.
struct CancelBody: Sendable, Hashable {
    /// The caller's words.
    var reason: String?

    init(_ document: JSONValue) throws(Problem) {
        let fields = try ObjectFields(document, at: .root, allowed: ["reason"])
        reason = try fields["reason"]?.text(at: FieldPath.root.member("reason"), length: 1...500)
    }
}

/// The body of `POST …/refunds`.
struct RefundBody: Sendable, Hashable {
    /// The amounts by leg.
    var legs: [Int: Money]?
    /// The amount at the only leg of the payment.
    var amount: Money?
    /// The caller's words.
    var reason: String?

    init(_ document: JSONValue) throws(Problem) {
        let root = FieldPath.root
        let fields = try ObjectFields(document, at: root, allowed: ["legs", "amount", "reason"])
        if let value = fields["legs"] {
            guard fields["amount"] == nil else {
                throw .malformed(root.member("amount"), "legs and amount exclude each other.")
            }
            legs = try LegAmounts.read(value, at: root.member("legs"))
        }
        amount = try fields["amount"]?.positiveMoney(at: root.member("amount"))
        reason = try fields["reason"]?.text(at: root.member("reason"), length: 1...500)
    }
}

/// Amounts by leg, each leg at most once.
enum LegAmounts {
    static func read(_ value: JSONValue, at path: FieldPath) throws(Problem) -> [Int: Money] {
        let last = Int64(CreateRequest.maximumLegs - 1)
        var amounts: [Int: Money] = [:]
        for (itemIndex, item) in try value.items(at: path, count: 1...CreateRequest.maximumLegs).enumerated() {
            let fields = try ObjectFields(item, at: path.item(itemIndex), allowed: ["index", "amount"])
            let indexPath = path.item(itemIndex).member("index")
            let index = Int(try fields.required("index").integer(at: indexPath, in: 0...last))
            guard amounts[index] == nil else { throw .impossible(indexPath, "The same leg twice.") }
            amounts[index] = try fields.required("amount").positiveMoney(
                at: path.item(itemIndex).member("amount"))
        }
        return amounts
    }
}
