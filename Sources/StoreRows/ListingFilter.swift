internal import PaymentCore
package import Reconciler

/// The conditions of a listing, and their values as numbered parameters. Its words depend only on which are given.
package struct ListingFilter: Sendable {
    private var conditions: [String] = []
    private let mark: String
    /// The values, in order of their numbers.
    package private(set) var values: [ColumnValue] = []

    /// - Parameter mark: what stands before a parameter's number.
    private init(mark: String) { self.mark = mark }

    /// Which runs are wanted, newest first.
    package init(_ query: RunQuery, mark: String) {
        self.init(mark: mark)
        if let provider = query.provider { require("provider = \(add(.text(provider.name)))") }
        if let state = query.state { require("state = \(add(.text(state.rawValue)))") }
        if let kind = query.kind { require("kind = \(add(.text(kind.rawValue)))") }
        if let after = query.after {
            require("(created_at, id) < (\(add(.int(after.createdAt.milliseconds))), \(add(.text(after.id.text))))")
        }
    }

    /// Which discrepancies are wanted, oldest first.
    package init(_ query: DiscrepancyQuery, mark: String) {
        self.init(mark: mark)
        if let provider = query.provider { require("provider = \(add(.text(provider.name)))") }
        if let finding = query.finding { require("finding = \(add(.text(finding.rawValue)))") }
        if let payment = query.payment { require("payment = \(add(.text(payment.text)))") }
        if !query.states.isEmpty {
            let marks = query.states.map(\.rawValue).sorted().map { add(.text($0)) }
            require("state IN (\(marks.joined(separator: ", ")))")
            // The words of the partial index.
            if !query.states.contains(.closed) { require("state <> 'closed'") }
        }
        switch query.assignment {
        case nil: break
        case .nobody: require("assignee IS NULL")
        case .person(let name): require("assignee = \(add(.text(name)))")
        }
        if let before = query.openedBefore { require("opened_at < \(add(.int(before.milliseconds)))") }
        if let least = query.atRiskFrom {
            require("risk_currency = \(add(.text(least.currency.code))) AND at_risk >= \(add(.int(least.value)))")
        }
        if let after = query.after {
            require("(opened_at, id) > (\(add(.int(after.openedAt.milliseconds))), \(add(.text(after.id.text))))")
        }
    }

    /// Which repairs are wanted, newest first.
    package init(_ query: RepairQuery, mark: String) {
        self.init(mark: mark)
        // The words of the partial index.
        if let isDecided = query.isDecided { require("state \(isDecided ? "<>" : "=") 'proposed'") }
        if let subject = query.subject { require("payment_id = \(add(.text(subject)))") }
        if let after = query.after {
            require("(proposed_at, id) < (\(add(.int(after.proposedAt.milliseconds))), \(add(.text(after.id))))")
        }
    }

    /// Which webhooks are wanted, newest first.
    package init(_ query: WebhookQuery, mark: String) {
        self.init(mark: mark)
        if let caller = query.caller { require("caller = \(add(.text(caller.name)))") }
        switch query.state {
        case nil: break
        case .waiting: require("due_at IS NOT NULL AND \(WebhookRow.isOpen)")
        case .givenUp: require("due_at IS NULL AND \(WebhookRow.isOpen)")
        case .delivered: require("NOT (\(WebhookRow.isOpen))")
        }
        if let after = query.after {
            let place = (add(.int(after.raisedAt.milliseconds)), add(.text(after.payment.text)))
            require("(raised_at, payment_id) < (\(place.0), \(place.1))")
        }
    }

    private mutating func add(_ value: ColumnValue) -> String {
        values.append(value)
        return "\(mark)\(values.count)"
    }

    private mutating func require(_ condition: String) { conditions.append(condition) }

    /// The documents of a table, in an order, at most `limit`.
    package mutating func documents(of table: String, by order: String, limit: Int) -> String {
        rows("document", of: table, by: order, limit: limit)
    }

    /// Columns of the rows of a table, in an order, at most `limit`.
    package mutating func rows(_ columns: String, of table: String, by order: String, limit: Int) -> String {
        let filter = conditions.isEmpty ? "" : "WHERE \(conditions.joined(separator: " AND ")) "
        return "SELECT \(columns) FROM \(table) \(filter)ORDER BY \(order) LIMIT \(add(.int(Int64(limit))))"
    }
}
