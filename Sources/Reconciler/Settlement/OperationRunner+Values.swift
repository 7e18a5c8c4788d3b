public import PaymentCore

extension OperationRunner {
    /// A caller's operation on a payment that exists.
    public struct Request: Sendable {
        /// What is asked.
        public enum Operation: Sendable, Hashable {
            /// Cancel it.
            case cancel(reason: String?)
            /// Capture what is held.
            case capture(amounts: [Int: Money]?)
            /// Give back what was captured.
            case refund(amounts: [Int: Money]?, reason: String?)
        }

        /// Names the request among those of this process.
        public let ticket: Int
        /// The operation.
        public let operation: Operation
        /// The record of its key, written with the change.
        public let record: IdempotencyRecord

        /// A request.
        public init(ticket: Int, operation: Operation, record: IdempotencyRecord) {
            self.ticket = ticket
            self.operation = operation
            self.record = record
        }
    }

    /// What the runner is told.
    public enum Input: Sendable {
        /// Something happened to the payment.
        case event(PaymentEvent)
        /// A caller wants something.
        case request(Request)
        /// What became of the change that was to be made durable.
        case committed(CommitResult)
        /// The store could not make it durable.
        case commitFailed(StoreFailure)
        /// The payment as the store has it now.
        case reloaded(Payment)
        /// The payment could not be read, or is gone.
        case reloadFailed
        /// The store says that the lease is not held any more.
        case leaseLost
    }

    /// What the runner wants done.
    public enum Output: Sendable {
        /// Make this durable, and say what became of it.
        case commit(PaymentChange)
        /// Wait a little, then make the same change durable. Counts tries from 0.
        case commitAgain(PaymentChange, try: Int)
        /// Execute this; the change that decided it is durable.
        case perform(PaymentAction)
        /// Read the payment again.
        case reload
        /// A request was answered.
        case answered(ticket: Int, Answer)
        /// The payment changed durably.
        case changed(Payment)
        /// Nothing is left to do; the lease is ended, or is to be ended if a token is given.
        case finished(release: LeaseToken?)
        /// The lease is lost, or the store failed for good. Whoever holds it next goes on.
        case abandoned(reason: String)
    }

    /// What came of a request.
    public enum Answer: Sendable {
        /// It is durable.
        case taken(Payment)
        /// The payment does not allow it; nothing changed.
        case refused(OperationRefusal)
        /// The key was used before; nothing changed.
        case duplicate(IdempotencyRecord)
    }
}
