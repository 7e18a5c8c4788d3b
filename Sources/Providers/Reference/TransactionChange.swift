internal import HTTPTransport

/// A request that changes something at the provider.
protocol TransactionChange: ProviderRequest where Response == ProviderAnswer, ReadingFailure == Never {
    /// The key of the authorization or sale.
    var transactionKey: String { get }
    /// The key of the change itself, which a refusal must name to be believed.
    var ownKey: String { get }
    /// The documented problems which prove that this operation was not executed and will not be, unchanged.
    static var refusals: Set<ReferenceProblem> { get }
    /// What the transaction shows of this change.
    func standing(in transaction: WireTransaction) -> Standing
}

/// What a transaction shows of a change that was asked for.
enum Standing: Sendable, Hashable {
    /// It is there: done, or recorded and not decided.
    case stands
    /// It is there, declined, for this reason.
    case declined(reason: String?)
    /// It is not there, and the transaction no longer permits it.
    case ruledOut
    /// It is not there, because the transaction is not decided; that will change.
    case tooEarly
}

extension TransactionChange {
    func decode(_ response: HTTPResponse) -> ProviderAnswer { ProviderAnswer(response) }

    /// What every change may be refused for.
    static var commonRefusals: Set<ReferenceProblem> {
        [.invalidRequest, .unauthorized, .bodyTooLarge, .unsupportedMediaType]
    }

    /// Reads a capture or refund, or, if it is not listed, why it could not be recorded.
    static func standing(
        ofKey key: String, among movements: [WireTransaction.Movement], in transaction: WireTransaction
    ) -> Standing {
        if let ours = movements.first(where: { $0.key == key }) {
            switch ours.status {
            case .pending, .succeeded: return .stands
            case .declined: return .declined(reason: ours.reason)
            }
        }
        return transaction.status == .pending || transaction.hasPendingCapture ? .tooEarly : .ruledOut
    }
}
