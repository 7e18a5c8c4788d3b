import PaymentCore
import Testing

/// How a payment ended, and why.
extension Stage {
    /// The rows of the tables that decided, and those for whose sake.
    var rows: [String] {
        trail.flatMap { [$0.value("row"), $0.value("because")] }.compactMap { $0 }
    }

    /// Expects that the payment ended so, and that both sides agree.
    func expectEnd(_ state: PaymentState, _ row: SourceLocation = #_sourceLocation) {
        var judge = judge
        judge.atRest(self)
        #expect(durable.state == state, "\(durable.summary)", sourceLocation: row)
        #expect(judge.faults.isEmpty, "\(judge.faults)", sourceLocation: row)
    }
}
