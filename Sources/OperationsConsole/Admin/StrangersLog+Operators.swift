internal import HTTPEdge
internal import Logging

/// Where somebody shows an operator's token.
enum OperatorToken: String, CaseIterable {
    /// In the header `Authorization` of a request to the operations API.
    case request
    /// In the header `Approval`: the second person's.
    case approval
    /// In the form that signs in to the console.
    case signIn = "sign_in"
}

extension StrangersLog {
    /// Of the operators' listener.
    static func ofOperators(_ logger: Logger) -> StrangersLog {
        StrangersLog(
            logger, counter: "reconciled_operator_tokens_refused", reasons: OperatorToken.allCases.map(\.rawValue))
    }

    /// Nobody has the token that was shown.
    func refused(_ token: OperatorToken) { came(token.rawValue) }
}
