internal import PaymentCore

/// The worlds that are searched. A contract or a freedom that is not here was not checked.
extension Scenario {
    static func make(
        _ name: String, _ legs: [ProviderContract], _ change: (inout Scenario) -> Void = { _ in }
    ) -> Scenario {
        var scenario = Scenario(name, legs.enumerated().map { ("leg \($0.offset)", $0.element) })
        change(&scenario)
        return scenario
    }

    static let everyRefusal: Refusals = [.primary, .capture, .void, .refund]

    /// What takes more than some seconds, by the beginnings of names.
    private static let long = [
        "A3", "A4", "A5", "A8", "A9", "A11", "A12", "A13", "B1", "B8", "C4", "C8", "C12b", "C16", "C18", "E2",
        "a leg that cannot be asked about",
        "one leg, manual, another amount is shown, anybody's",
        "one leg, one failover, a refund of which the key is forgotten, anybody's",
        "one leg, one failover, a refund of which the key is forgotten, careful",
        "two legs, refund may be declined, careful", "two legs, refund may be declined, anybody's",
    ]

    /// The bounds that each change is checked with: everything that takes seconds.
    public static let quick: [Scenario] = (oneLeg + byResend + twoLegs + lossy + withPeople).filter { scenario in
        !long.contains { scenario.name.hasPrefix($0 + " ") } && scenario.name != "A1 with answers"
    }

    /// One leg, with everything that may be answered, declined, refused, delayed and asked for.
    public static let oneLeg: [Scenario] = [
        make("one leg, every answer and refusal", [tombstone]) {
            $0.answers = .all
            $0.readsMayFail = true
            $0.refusals = everyRefusal
            $0.quarantineExpected = true
        },
        make("one leg, manual capture of a part, two equal refunds", [tombstone]) {
            $0.captureMode = .manual
            $0.capturesPart = true
            $0.refunds = [300, 300]
            $0.answers = [.transaction, .unsent]
            $0.refusals = [.primary, .capture, .refund]
        },
        make("one leg, refunds in full, refunds declined", [tombstone]) {
            $0.refunds = [400, 600]
            $0.answers = [.transaction]
            $0.refusals = everyRefusal
            $0.quarantineExpected = true
        },
        make("one sale, every answer and refusal", [reversingSale]) {
            $0.answers = .all
            $0.readsMayFail = true
            $0.refusals = everyRefusal
            $0.quarantineExpected = true
        },
        make("one sale, undecided for a while", [sale]) {
            $0.answers = [.transaction, .unsent]
            $0.mayBePending = true
        },
        make("one leg, undecided for a while", [tombstone]) {
            $0.answers = [.transaction, .unsent]
            $0.mayBePending = true
        },
        make("one leg, its payer has to act", [tombstone]) {
            $0.answers = [.transaction, .unsent]
            $0.mayBePending = true
            $0.asksPayers = true
            $0.deadlineIsNear = true
            $0.refusals = [.primary]
        },
        make("one sale, its payer has to act", [sale]) {
            $0.answers = [.transaction, .unsent]
            $0.mayBePending = true
            $0.asksPayers = true
            $0.refusals = [.primary]
        },
        make("one leg, its payer has to act, rows are lost", [tombstone]) {
            $0.losses = .failovers(1)
            $0.answers = [.transaction]
            $0.mayBePending = true
            $0.asksPayers = true
        },
        make("one leg, manual, the deadline and the hold pass", [tombstone]) {
            $0.captureMode = .manual
            $0.deadlineIsNear = true
            $0.answers = [.transaction, .unsent]
        },
        make("one leg, changed at the provider's console", [tombstone]) {
            $0.changesOutside = true
            $0.answers = [.transaction, .unsent]
        },
        make("one leg, another amount is shown", [tombstone]) {
            $0.mayContradict = true
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("one leg, reads take time and lag", [notAfterLagging]) {
            $0.readsTakeTime = true
            $0.readsMayFail = true
            $0.answers = [.transaction, .unsent]
        },
        make("one leg, keys are forgotten, two refunds", [forgetful]) {
            $0.requestLife = .bounded
            $0.refunds = [300, 300]
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("one leg, keys and statuses are forgotten", [forgettingAll]) {
            $0.requestLife = .bounded
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("one sale, keys and statuses are forgotten", [forgettingAllSale]) {
            $0.requestLife = .bounded
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("one leg, stray refusals, two refunds", [tombstone]) {
            $0.requestLife = .bounded
            $0.refunds = [300, 300]
            $0.answers = [.transaction, .stray]
        },
        make("one sale, stray refusals", [plugSale]) {
            $0.requestLife = .bounded
            $0.plugAllowed = true
            $0.answers = [.transaction, .stray]
        },
        make("one leg, manual, compared at any time", [tombstone]) {
            $0.captureMode = .manual
            $0.deadlineIsNear = true
            $0.isCompared = true
            $0.readsMayFail = true
            $0.answers = [.transaction]
        },
        make("one leg, manual, compared, captured at the console, reads err", [tombstone]) {
            $0.captureMode = .manual
            $0.deadlineIsNear = true
            $0.isCompared = true
            $0.capturesOutside = true
            $0.readsMayErr = true
            $0.answers = [.transaction]
            $0.quarantineExpected = true
        },
        make("one leg, declines not bound, nothing undone but by their end", [plugUnbound]) {
            $0.requestLife = .bounded
            $0.plugAllowed = true
            $0.refunds = [300]
            $0.refusals = everyRefusal
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("one sale, statuses are forgotten, not_after", [forgettingStatus]) {
            $0.answers = [.transaction, .unsent]
            $0.readsTakeTime = true
            $0.quarantineExpected = true
        },
        make("asked by a listing, nothing canceled", [.listed]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("Stripe", [laggingStripe]) {
            $0.requestLife = .bounded
            $0.refusals = everyRefusal
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("PayPay, two refunds", [aligned(.payPay)]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.refunds = [300, 300]
            $0.answers = [.transaction, .unsent]
        },
        make("GMO-PG, manual, two refunds", [aligned(.gmoPG)]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.captureMode = .manual
            $0.refunds = [300, 300]
            $0.answers = [.transaction, .unsent]
        },
    ]

    /// Two legs on rows that are kept: the runs A and B of the models.
    public static let twoLegs: [Scenario] = [
        make("A1 two legs, tombstone", [tombstone, tombstone]),
        make("A1 with answers", [tombstone, tombstone]) { $0.answers = [.transaction] },
        make("A3 two legs, manual capture", [tombstone, tombstone]) { $0.captureMode = .manual },
        make("A3 two legs, capture of a part", [tombstone, tombstone]) {
            $0.captureMode = .manual
            $0.capturesPart = true
        },
        make("A4 two legs, declines not bound", [unbound, unbound]),
        make("A5 two legs, refund may be declined", [tombstone, tombstone]) {
            $0.refusals = [.primary, .capture, .refund]
            $0.quarantineExpected = true
        },
        make("A6 two legs, plug", [plug, plug]) { $0.plugAllowed = true },
        make("A8 two legs, not_after", [notAfter, notAfter]),
        make("A9 two legs, not_after, declines not bound", [notAfterUnbound, notAfterUnbound]),
        make("A11 two legs, tombstone and plug, declines not bound", [unbound, plugUnbound]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
        },
        make("A12 two legs, stale reads", [lagging, lagging]),
        make("A13 two legs, not_after, stale reads", [notAfterLagging, notAfterLagging]),
        make("B1 a leg and a sale", [tombstone, sale]) { $0.answers = [.transaction] },
        make("B3 a leg and a sale that cancel reverses", [tombstone, reversingSale]),
        make("B5 a leg and a sale with the plug", [tombstone, plugSale]) { $0.plugAllowed = true },
        make("B6 a leg and a sale, not_after", [notAfter, notAfterSale]),
        make("B8 a lagging leg and a sale", [lagging, sale]),
    ]

    /// Rows are lost: the runs C, E and W of the models.
    public static let lossy: [Scenario] = [
        make("one leg, two failovers", [tombstone]) { $0.losses = .failovers(2) },
        make("one leg, two failovers, not_after", [notAfter]) { $0.losses = .failovers(2) },
        make("one leg, two failovers, plug", [plug]) {
            $0.losses = .failovers(2)
            $0.plugAllowed = true
        },
        make("one leg, two failovers, stale reads", [lagging]) { $0.losses = .failovers(2) },
        make("one leg, two failovers, manual", [tombstone]) {
            $0.losses = .failovers(2)
            $0.captureMode = .manual
        },
        make("one leg, two failovers, manual capture of a part", [tombstone]) {
            $0.losses = .failovers(2)
            $0.captureMode = .manual
            $0.capturesPart = true
        },
        make("one leg, one failover, refunds in full", [tombstone]) {
            $0.losses = .failovers(1)
            $0.refunds = [400, 600]
        },
        make("one leg, one failover, a refund of which the key is forgotten", [forgetful]) {
            $0.losses = .failovers(1)
            $0.requestLife = .bounded
            $0.refunds = [300]
            $0.quarantineExpected = true
        },
        make("one leg, one restore, refunds of which keys are forgotten", [forgetful]) {
            restored(&$0, 1)
            $0.refunds = [300, 300]
            $0.quarantineExpected = true
        },
        make("one sale, two failovers", [sale]) { $0.losses = .failovers(2) },
        make("one sale that cancel reverses, two failovers", [reversingSale]) { $0.losses = .failovers(2) },
        make("W2 one leg, one restore", [tombstone]) { restored(&$0, 1) },
        make("one leg, one restore, manual capture of a part", [tombstone]) {
            restored(&$0, 1)
            $0.captureMode = .manual
            $0.capturesPart = true
        },
        make("W4 one leg, two restores", [tombstone]) { restored(&$0, 2) },
        make("W6 one sale, two restores", [reversingSale]) { restored(&$0, 2) },
        make("one leg, two failovers, hurrying", [tombstone]) { hurried(&$0, 2) },
        make("C4 two legs, one failover", [tombstone, tombstone]) { hurried(&$0, 1) },
        make("E2 a leg and a sale, two failovers", [tombstone, sale]) { hurried(&$0, 2) },
        make("E7 a leg and a sale that cancel reverses, two failovers", [tombstone, reversingSale]) {
            hurried(&$0, 2)
        },
        make("C12b two legs, one failover, stale reads before it", [lagging, lagging]) {
            hurried(&$0, 1)
        },
        make("C16 two legs, one failover, plug", [plug, plug]) {
            hurried(&$0, 1)
            $0.plugAllowed = true
        },
        make("C18 two legs, one failover, not_after", [notAfter, notAfter]) { hurried(&$0, 1) },
        make("W4 two legs, two restores", [tombstone, tombstone]) {
            restored(&$0, 2)
            $0.answers = .none
            $0.hurries = true
        },
        make("C8 two legs, two failovers", [tombstone, tombstone]) { hurried(&$0, 2) },
    ]

    private static func hurried(_ scenario: inout Scenario, _ failovers: Int) {
        scenario.losses = .failovers(failovers)
        scenario.hurries = true
    }

    private static func restored(_ scenario: inout Scenario, _ count: Int) {
        scenario.losses = .restores(count)
        scenario.requestLife = .bounded
        scenario.answers = .unsent
        scenario.tombstonesNeverSent = true
    }
}
