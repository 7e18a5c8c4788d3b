internal import PaymentCore

extension Scenario {
    /// Providers that cannot be asked: what is in doubt is sent again.
    public static let byResend: [Scenario] = [
        make("cannot be asked, every answer and refusal", [unaskable]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.answers = .all
            $0.refusals = everyRefusal
            $0.quarantineExpected = true
        },
        make("cannot be asked, manual capture of a part, two refunds", [unaskable]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.captureMode = .manual
            $0.capturesPart = true
            $0.refunds = [300, 300]
            $0.answers = [.transaction, .unsent]
        },
        make("cannot be asked, keys are forgotten, a refund", [unaskableForgetful]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.refunds = [300]
            $0.answers = [.transaction, .unsent]
            $0.quarantineExpected = true
        },
        make("cannot be asked, tells by itself, manual capture, a refund", [unaskable]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.captureMode = .manual
            $0.refunds = [300]
            $0.refusals = [.primary, .capture, .refund]
            $0.answers = [.transaction]
            $0.mayBePending = true
            $0.tells = true
            $0.quarantineExpected = true
        },
        make("cannot be asked, tells by itself, a sale, keys are forgotten", [unaskableForgetfulSale]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.answers = [.transaction, .unsent]
            $0.tells = true
            $0.quarantineExpected = true
        },
        make("cannot be asked, leaves tombstones", [unaskableTombstone]) {
            $0.plugAllowed = true
            $0.answers = [.transaction, .unsent, .throttled, .refused]
            $0.quarantineExpected = true
        },
        make("cannot be asked, executes nothing after not_after", [unaskableEnforcing]) {
            $0.plugAllowed = true
            $0.answers = [.transaction, .unsent, .throttled]
        },
        make("a sale that cannot be asked about, stray refusals", [unaskableSale]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.refunds = [300]
            $0.answers = [.transaction, .stray]
        },
        make("a leg that cannot be asked about and another", [unaskable, tombstone]) {
            $0.plugAllowed = true
            $0.requestLife = .bounded
            $0.answers = [.transaction]
        },
    ]
}
