internal import PaymentCore

extension Scenario {
    /// Two people decide about what is in quarantine: rightly, or anything.
    public static let withPeople: [Scenario] = [People.careful, .anybody].flatMap { people in
        func make(_ name: String, _ legs: [ProviderContract], _ change: (inout Scenario) -> Void) -> Scenario {
            .make("\(name), \(people == .careful ? "careful people" : "anybody's word")", legs) {
                $0.people = people
                $0.quarantineExpected = true
                $0.answers = [.transaction, .unsent]
                change(&$0)
            }
        }
        return [
            make("one leg, keys and statuses are forgotten", [forgettingAll]) { $0.requestLife = .bounded },
            make("one sale, keys and statuses are forgotten", [forgettingAllSale]) { $0.requestLife = .bounded },
            make("one leg, manual, another amount is shown", [tombstone]) {
                $0.captureMode = .manual
                $0.mayContradict = true
            },
            make("one leg, changed at the console, refunds declined", [tombstone]) {
                $0.changesOutside = true
                $0.refunds = [1_000]
                $0.refusals = everyRefusal
            },
            make("one leg, one failover, a refund of which the key is forgotten", [forgetful]) {
                $0.losses = .failovers(1)
                $0.requestLife = .bounded
                $0.refunds = [300]
            },
            make("two legs, refund may be declined", [tombstone, tombstone]) {
                $0.answers = .none
                $0.refusals = [.primary, .capture, .refund]
            },
        ]
    }
}
