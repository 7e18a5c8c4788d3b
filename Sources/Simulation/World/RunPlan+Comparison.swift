internal import PaymentCore

extension RunPlan {
    /// Draws what an operator decided about comparing: windows of a fraction of the time in which faults strike, pages
    /// of a few transactions.
    static func comparison(_ chance: Chance, phase: Span, start: Timestamp, keepsRows: Bool) -> ComparisonSettings {
        func draw(_ what: String, below bound: Int) -> Int { chance.draw("compares \(what)", below: bound) }
        var settings = ComparisonSettings()
        settings.window = Span(milliseconds: phase.milliseconds / Int64([2, 4, 8][draw("window", below: 3)]))
        let delays: [Span] = [.seconds(30), .minutes(5), .minutes(5), .minutes(30)]
        settings.settleDelay = delays[draw("delay", below: delays.count)]
        settings.pageSize = [3, 8, 20, 100][draw("page", below: 4)]
        // Nothing happened before the run.
        settings.begin = start + (Span.zero - .minutes(1))
        let pauses: [Span] = [.zero, settings.window, .hours(1)]
        settings.askAgainAfter = pauses[draw("again", below: pauses.count)]
        settings.policy = policy(chance, keepsRows: keepsRows)
        return settings
    }

    /// The defaults, or what an operator may have instead.
    private static func policy(_ chance: Chance, keepsRows: Bool) -> ComparisonPolicy {
        guard chance.draw("compares policy", below: 2) == 0 else { return .standard }
        // Where rows are lost, what they were about is undone only after each caller had the time to come again.
        let patience = keepsRows ? Span.minutes(10) : .days(3)
        var rules: [ComparisonClass: ComparisonPolicy.Rule] = [
            .orphan: ComparisonPolicy.Rule(.undo, after: patience), .duplicate: ComparisonPolicy.Rule(.undo),
        ]
        if chance.draw("compares quarantines", below: 3) == 0 {
            rules[.statusDiffers] = ComparisonPolicy.Rule(.quarantine)
            rules[.oursOnly] = ComparisonPolicy.Rule(.quarantine)
        }
        do throws(ComparisonPolicy.Failure) {
            return try ComparisonPolicy(rules)
        } catch {
            return .standard  // Not reached: these actions are allowed for these classes.
        }
    }
}
