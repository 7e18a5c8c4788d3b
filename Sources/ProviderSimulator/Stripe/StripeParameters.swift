/// What Stripe refuses before it begins: parameters that it does not know, or that are not of their kind. Such an
/// answer is not kept under the key (docs.stripe.com/api/idempotent_requests).
///
/// A parameter that this fake does not play is refused like one that Stripe does not know: nothing is passed over that
/// a caller may rely on.
struct StripeParameters {
    let call: StripeCall

    /// Nil if nothing is wrong.
    func refusal() -> StripeAnswer? {
        if let key = call.idempotencyKey, !(1...255).contains(key.utf8.count) {
            return .invalid(nil, "An idempotency key has at most 255 characters.")
        }
        for (name, value) in call.parameters.sorted(by: { $0.key < $1.key }) {
            if let refusal = refusal(of: name, value) { return refusal }
        }
        return nil
    }

    private func refusal(of name: String, _ value: String) -> StripeAnswer? {
        let root = name.split(separator: "[", maxSplits: 1).first.map(String.init) ?? name
        guard Self.known(call.kind).contains(root), (root == name) != Self.nested.contains(root) else {
            return .invalid("parameter_unknown", "Received unknown parameter: \(name)", parameter: name)
        }
        switch root {
        case "amount", "amount_to_capture":
            // An amount that cannot be read is none: what is left out means all of it.
            guard let number = Int64(value), number > 0 else { return invalidInteger(name, value) }
        case "created":
            guard ["created[gte]", "created[lt]"].contains(name) else {
                return .invalid("parameter_unknown", "Only gte and lt are simulated: \(name)", parameter: name)
            }
            guard Int64(value) != nil else { return invalidInteger(name, value) }
        case "limit":
            guard let number = Int(value), (1...100).contains(number) else { return invalidInteger(name, value) }
        case "metadata":
            let key = name.dropFirst("metadata[".count).dropLast()
            guard (1...40).contains(key.count), value.count <= 500 else {
                let words = "Metadata has names of up to 40 and values of up to 500 characters."
                return .invalid(nil, words, parameter: name)
            }
        case "expand":
            guard Self.expandable(call.kind).contains(value) else {
                return .invalid(nil, "This property cannot be expanded (\(value)).", parameter: "expand")
            }
        default:
            guard let words = Self.words[root], !words.contains(value) else { return nil }
            return .invalid(
                nil, "Invalid \(root): must be one of \(words.joined(separator: ", "))", parameter: root)
        }
        return nil
    }

    private func invalidInteger(_ name: String, _ value: String) -> StripeAnswer {
        .invalid("parameter_invalid_integer", "Invalid integer: \(value)", parameter: name)
    }

    /// Those that have parts in brackets.
    private static let nested: Set = ["metadata", "expand", "payment_method_types", "created"]

    /// `confirm` is known, so that its refusal says why.
    private static func known(_ kind: StripeCall.Kind) -> Set<String> {
        switch kind {
        case .register:
            [
                "amount", "currency", "capture_method", "payment_method", "payment_method_types", "transfer_group",
                "metadata", "description", "confirm", "expand",
            ]
        case .confirm: ["payment_method", "error_on_requires_action", "return_url", "expand"]
        case .capture: ["amount_to_capture", "metadata", "expand"]
        case .cancel: ["cancellation_reason", "expand"]
        case .refund: ["payment_intent", "charge", "amount", "reason", "metadata"]
        case .intent: ["expand"]
        case .charge: ["expand"]
        case .charges: ["transfer_group", "payment_intent", "created", "limit", "starting_after", "expand"]
        case .movements: ["created", "source", "limit", "starting_after", "expand"]
        case .refunds, .disputes: ["payment_intent", "charge", "limit", "starting_after"]
        }
    }

    private static func expandable(_ kind: StripeCall.Kind) -> Set<String> {
        switch kind {
        case .register, .confirm, .capture, .cancel, .intent: ["latest_charge"]
        case .charge: ["payment_intent", "refunds", "balance_transaction"]
        case .charges: ["data.payment_intent", "data.refunds", "data.balance_transaction"]
        case .movements: ["data.source"]
        case .refund, .refunds, .disputes: []
        }
    }

    private static let words = [
        "capture_method": ["automatic", "automatic_async", "manual"],
        "cancellation_reason": ["abandoned", "duplicate", "fraudulent", "requested_by_customer"],
        "reason": ["duplicate", "fraudulent", "requested_by_customer"],
        "error_on_requires_action": ["true", "false"],
        "confirm": ["false"],
    ]
}
