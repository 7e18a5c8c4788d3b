/// What the providers of the demo do wrong, as the simulator's configuration has it.
enum DemoFaults {
    /// A fault by chance.
    struct Rate: Encodable, Equatable {
        let fault: String
        let rate: Double
        let operations: [String]
        var delayMs: Int?
        var execute: String?
        var outcome: String?
        var staleMs: Int?
    }

    /// A fault that strikes a certain request.
    struct Order: Encodable, Equatable {
        let fault: String
        let operation: String
        let skip: Int
        let times: Int
    }

    /// How long a slow answer takes; longer than the daemon waits for the first byte.
    static let slowMs = 1_500
    /// After which time a request that seemed lost arrives all the same.
    static let lateMs = 1_500
    /// For how long an inquiry shows an old state; shorter than the `visibility_lag` of the configuration.
    static let staleMs = 800
    /// For how long something stays pending.
    static let pendingMs = 800

    /// The faults of every provider: together they strike `percent` of the requests of each operation.
    static func rates(percent: Int, wire: DemoAdapter = .reference) -> [Rate] {
        guard percent > 0 else { return [] }
        let total = Double(percent) / 100
        // A declined refund would force a quarantine, where it undoes something: refunds are spared that.
        switch wire {
        case .reference:
            return shares(["authorize", "sale", "capture"], declines: 3, movesMoney: true, total)
                + shares(["refund"], declines: 0, movesMoney: true, total)
                + shares(
                    ["void", "inquire", "inquire_capture", "inquire_refund"], declines: 0, movesMoney: false, total)
        case .paypay:
            return shares(["sale"], declines: 3, movesMoney: true, total)
                + shares(["refund"], declines: 0, movesMoney: true, total)
                + shares(["void", "inquire"], declines: 0, movesMoney: false, total)
        case .adyen:
            return shares(["authorize", "capture"], declines: 3, movesMoney: true, isRead: false, total)
                + shares(["refund"], declines: 0, movesMoney: true, isRead: false, total)
                + shares(["void"], declines: 0, movesMoney: false, isRead: false, total)
        case .stripe:
            // An error is stored under its key for a day. A refund that was not executed could then never be: it goes
            // to people, as it must.
            return shares(["authorize", "sale"], declines: 3, movesMoney: true, total)
                + shares(["capture"], declines: 0, movesMoney: true, mayStayPending: false, total)
                + shares(["refund"], declines: 0, movesMoney: true, failsBefore: false, total)
                + shares(["register"], declines: 0, movesMoney: false, isRead: false, total)
                + shares(["void", "inquire"], declines: 0, movesMoney: false, total)
        }
    }

    private static func shares(
        _ operations: [String], declines: Int, movesMoney: Bool, mayStayPending: Bool = true,
        failsBefore: Bool = true, isRead: Bool = true, _ total: Double
    ) -> [Rate] {
        var rates: [Rate] = []
        func add(_ fault: String, _ share: Int, _ change: (inout Rate) -> Void = { _ in }) {
            guard share > 0 else { return }
            var rate = Rate(fault: fault, rate: total * Double(share) / 100, operations: operations)
            change(&rate)
            rates.append(rate)
        }
        add("response_lost", 18)
        add("error_after", 12)
        add("truncated", 8)
        add("html", 4)
        add("missing_status", 4)
        add("slow", 4) { $0.delayMs = slowMs }
        add("slow", 4) { ($0.delayMs, $0.execute) = (slowMs, "after") }
        add("stale_inquiry", isRead ? 5 : 0) { $0.staleMs = staleMs }
        add("error_before", failsBefore ? 6 : 0)
        add("throttled", 4)
        add("unavailable", 3)
        if movesMoney {
            add("late_delivery", 6) { $0.delayMs = lateMs }
            add("duplicated", 3)
            add("pending", mayStayPending ? 5 : 0) { $0.delayMs = pendingMs }
            add("pending", declines / 2) { ($0.delayMs, $0.outcome) = (pendingMs, "declined") }
            add("decline_bound", declines - declines / 2)
        }
        // Whatever is left of a hundred.
        let given = rates.reduce(0) { $0 + $1.rate } / total * 100
        add("request_lost", 100 - Int(given.rounded()))
        return rates
    }

    /// Faults after which no safe step is left: the provider records another amount than it was asked for.
    /// The demo orders a few, so that it is seen what becomes of them.
    static func forcingQuarantine(payments: Int, percent: Int) -> [DemoProvider: Order] {
        guard percent > 0, payments >= 100 else { return [:] }
        let skip = payments / 20
        return [
            .card: Order(fault: "amount_changed", operation: "authorize", skip: skip, times: 2),
            .points: Order(fault: "amount_changed", operation: "capture", skip: skip, times: 1),
            .balance: Order(fault: "amount_changed", operation: "sale", skip: skip, times: 1),
        ]
    }
}

/// The simulator's configuration file.
struct SimulatorFile: Encodable {
    struct Provider: Encodable {
        let name: String
        let wire: DemoAdapter
        let rates: [DemoFaults.Rate]
        var notificationKey: String?
    }

    let seed: UInt64
    let database: String
    let providers: [Provider]

    init(
        seed: UInt64, database: String, faultPercent: Int, adapter: DemoAdapter = .reference,
        notificationKey: String? = nil
    ) {
        self.seed = seed
        self.database = database
        providers = DemoProvider.allCases.map { provider in
            let wire = adapter.wire(of: provider)
            return Provider(
                name: provider.rawValue, wire: wire, rates: DemoFaults.rates(percent: faultPercent, wire: wire),
                notificationKey: wire == .adyen ? notificationKey : nil)
        }
    }
}
