/// Why a call gave no payment or refund.
public enum ClientError: Error, Sendable, Hashable {
    /// The daemon does not do this. Unless its `type` says otherwise, nothing was done.
    case refused(Problem)
    /// Nobody knows yet how it ends, and it will end. Ask again with the same order, or call
    /// ``PaymentsClient/resume(within:)`` later. Do not start another payment, and do not tell the customer that it
    /// failed. `last` is what was shown last, if anything was.
    case unsettled(OperationKey, last: Standing?, because: String)
    /// The journal has another request under this key: another amount, other legs. Take the next attempt's number only
    /// if the first has ended.
    case differs(OperationKey)
    /// A key has 1 to 255 visible ASCII characters, and no spaces.
    case invalidKey(String)
    /// A payment's identifier is `pay_` and 40 hexadecimal digits.
    case invalidPayment(String)
    /// What the journal has cannot be read.
    case journal(String)
    /// What was asked for cannot be read now.
    case unread(String, because: String)

    /// Where the payment or the refund stood.
    public enum Standing: Sendable, Hashable {
        case payment(PaymentState, id: String)
        case refund(RefundState, id: String)
    }
}

extension ClientError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let problem): "the daemon refused it: \(problem)"
        case .unsettled(let key, let last, let why):
            "\(key) is not settled yet\(ClientError.text(of: last)): \(why). Ask again with the same key"
        case .differs(let key): "\(key) was used for another request, which the journal has"
        case .invalidKey(let text):
            "\"\(text)\" is no key: allowed are 1 to 255 visible ASCII characters, without spaces"
        case .invalidPayment(let text):
            "\"\(text)\" is no payment: its identifier is pay_ and 40 hexadecimal digits"
        case .unread(let path, let why): "\(path) cannot be read: \(why)"
        case .journal(let why): "the journal cannot be used: \(why)"
        }
    }

    private static func text(of standing: Standing?) -> String {
        switch standing {
        case .payment(let state, let id): " (\(id) is \(state.rawValue))"
        case .refund(let state, let id): " (\(id) is \(state.rawValue))"
        case nil: ""
        }
    }
}
