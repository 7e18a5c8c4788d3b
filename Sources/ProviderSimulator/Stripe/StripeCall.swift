import Foundation

/// A call of Stripe's wire, as it reached the provider: what it asks for, and the parameters that its key is bound to.
struct StripeCall: Codable, Sendable, Equatable {
    /// What is asked for.
    enum Kind: String, Codable, Sendable {
        case register, confirm, capture, cancel, refund
        case intent, charge, charges, refunds, disputes, movements
    }

    let kind: Kind
    /// The intent's identifier in the path, or the charge's; empty where there is none.
    let intent: String
    /// Parameters of the form or the query, by their names in Stripe's notation such as `metadata[order]`.
    let parameters: [String: String]
    /// `Idempotency-Key`.
    var idempotencyKey: String?
    /// Whether its token is good.
    var isAuthorized = true
    /// Whether its body was larger than is read; nil: no.
    var isTooLarge: Bool?

    /// What a key is bound to: the path and the parameters.
    var fingerprint: String {
        let pairs = parameters.sorted { $0.key < $1.key }.map { "\($0.key.utf8.count):\($0.key)=\($0.value)" }
        return ([kind.rawValue, intent] + pairs).joined(separator: "\n")
    }

    /// The texts under a name with brackets, such as `metadata`.
    func texts(_ name: String) -> [String: String] {
        var texts: [String: String] = [:]
        for (key, value) in parameters where key.hasPrefix(name + "[") && key.hasSuffix("]") {
            texts[String(key.dropFirst(name.count + 1).dropLast())] = value
        }
        return texts
    }

    /// Whether an answer shall hold an object in place of its identifier.
    func expands(_ name: String) -> Bool { texts("expand").values.contains(name) }

    /// The operation by which faults, counters and the journal know it. A confirm is of the intent's kind.
    func operation(takesLater: Bool) -> Operation {
        switch kind {
        case .register: .register
        case .confirm: takesLater ? .authorize : .sale
        case .capture: .capture
        case .cancel: .void
        case .refund: .refund
        // All charges of the account: a listing, and no question about one of them.
        case .charges where parameters["transfer_group"] == nil && parameters["payment_intent"] == nil: .list
        case .movements: parameters["source"] == nil ? .list : .inquire
        case .intent, .charge, .charges, .refunds, .disputes: .inquire
        }
    }
}

/// Turns messages of Stripe's wire into requests.
struct StripeReader: WireReader {
    let provider: String
    /// Nil: any bearer token is good.
    let token: BearerToken?

    /// Nil when there is no such route.
    func read(_ message: ReceivedMessage) -> ProviderRequest? {
        guard message.path.first == "v1" else { return nil }
        let path = Array(message.path.dropFirst())
        let call: (StripeCall.Kind, String)
        switch (message.method, path.count, path.first) {
        case ("POST", 1, "payment_intents"): call = (.register, "")
        case ("GET", 2, "payment_intents"): call = (.intent, path[1])
        case ("POST", 3, "payment_intents"):
            guard let kind = StripeCall.Kind(rawValue: path[2]), [.confirm, .capture, .cancel].contains(kind) else {
                return nil
            }
            call = (kind, path[1])
        case ("POST", 1, "refunds"): call = (.refund, "")
        case ("GET", 1, "refunds"): call = (.refunds, "")
        case ("GET", 1, "charges"): call = (.charges, "")
        case ("GET", 2, "charges"): call = (.charge, path[1])
        case ("GET", 1, "balance_transactions"): call = (.movements, "")
        case ("GET", 1, "disputes"): call = (.disputes, "")
        default: return nil
        }
        return request(message, call.0, intent: call.1)
    }

    func unknownRoute(_ message: ReceivedMessage) -> Answer {
        let url = "\(message.method): /\(message.path.joined(separator: "/"))"
        var answer = StripeAnswer.error(404, "invalid_request_error", "Unrecognized request URL (\(url)).")
        if message.method == "POST" { answer.idempotencyKey = message.idempotencyKey }
        return Answer(status: answer.status, content: .stripe(answer))
    }

    private func request(_ message: ReceivedMessage, _ kind: StripeCall.Kind, intent: String) -> ProviderRequest {
        var parameters = message.query
        if message.method == "POST" {
            parameters.merge(StripeForm.read(message.body ?? Data())) { $1 }
        }
        var call = StripeCall(kind: kind, intent: intent, parameters: parameters)
        if message.method == "POST" { call.idempotencyKey = message.idempotencyKey }
        if message.body == nil { call.isTooLarge = true }
        call.isAuthorized = MessageReader.accepts(message.authorization, token)
        // Key and operation are filled in by whoever can look the intent up.
        return ProviderRequest(
            provider: provider, operation: call.operation(takesLater: true), key: "", entryKey: "", notAfter: nil,
            command: .stripe(call))
    }
}

/// Bodies of `application/x-www-form-urlencoded`.
enum StripeForm {
    /// Names and values, decoded. What cannot be decoded is left out.
    static func read(_ body: some Sequence<UInt8>) -> [String: String] {
        var parameters: [String: String] = [:]
        for pair in String(decoding: Array(body), as: UTF8.self).split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let name = decoded(parts[0]), let value = decoded(parts[1]) else { continue }
            ReceivedMessage.add(name, value, to: &parameters)
        }
        return parameters
    }

    private static func decoded(_ text: Substring) -> String? {
        text.replacing("+", with: " ").removingPercentEncoding
    }
}
