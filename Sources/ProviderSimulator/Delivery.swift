/// What becomes of the connection on which a request came.
enum Delivery: Sendable {
    /// The answer is sent whole, after a wait in milliseconds.
    case answer(Answer, afterMs: Int64)
    /// Without `status` in its transactions.
    case answerWithoutStatus(Answer)
    /// Half of the body is sent, then the connection is closed.
    case truncated(Answer)
    /// The connection is closed without an answer, after a wait in milliseconds.
    case close(afterMs: Int64)
    /// The request executes after a wait in milliseconds, and its answer is sent then.
    case executeLater(ProviderRequest, afterMs: Int64)
}
