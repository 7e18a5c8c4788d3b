import PaymentCore

extension Configuration {
    /// What the operator decided about comparing both sides.
    struct Comparison {
        /// Whether daemons with the role `batch` compare.
        var isEnabled: Bool
        /// How.
        var settings: ComparisonSettings
    }

    /// Reads `reconcile.comparison`.
    static func readComparison(
        _ parent: ConfigurationSection, _ providers: [Provider], paymentsKeptFor: Span?
    ) -> Comparison {
        let section = parent.section("comparison")
        defer { section.finish() }
        var settings = ComparisonSettings()
        let isEnabled = section.bool("enabled", default: true)
        settings.window = section.duration("window", default: settings.window, atLeast: .minutes(1))
        settings.settleDelay = section.duration("settle_delay", default: settings.settleDelay, atLeast: .zero)
        settings.askAgainAfter = section.duration("ask_again_after", default: settings.askAgainAfter)
        settings.pageSize = section.int("page_size", in: 1...10_000, default: settings.pageSize)
        settings.begin = section.moment("begin")
        settings.paymentsKeptFor = paymentsKeptFor
        if section.text("overlap") != nil {
            let overlap = section.duration("overlap", default: .zero, atLeast: .zero)
            settings.overlap = overlap
            for provider in providers where provider.contract.listing && provider.contract.visibilityLag > overlap {
                let lag = DurationText.render(provider.contract.visibilityLag)
                section.report(
                    "overlap", value: DurationText.render(overlap),
                    allowed: "at least \(lag), the visibility_lag of \(provider.name): what is listed late is missed")
            }
        }
        settings.policy = readPolicy(section)
        return Comparison(isEnabled: isEnabled, settings: settings)
    }

    /// `orphan_wait` is the wait of one class under a name of its own.
    private static func readPolicy(_ section: ConfigurationSection) -> ComparisonPolicy {
        let policy = section.section("policy")
        defer { policy.finish() }
        var rules: [ComparisonClass: ComparisonPolicy.Rule] = [:]
        for found in ComparisonClass.differences {
            guard let text = policy.text(found.rawValue) else { continue }
            rules[found] = rule(text, of: found, policy)
        }
        if section.text("orphan_wait") != nil {
            let wait = section.duration("orphan_wait", default: .zero, atLeast: .zero)
            if policy.text(ComparisonClass.orphan.rawValue)?.contains(" after ") == true {
                section.report(
                    "orphan_wait", value: DurationText.render(wait), allowed: "either this or policy.orphan with a wait"
                )
            }
            let action = rules[.orphan]?.action ?? ComparisonPolicy.standard.rule(for: .orphan).action
            rules[.orphan] = ComparisonPolicy.Rule(action, after: wait)
        }
        do {
            return try ComparisonPolicy(rules)
        } catch {
            section.report("policy", value: "", allowed: error.description)
            return .standard
        }
    }

    /// `<action>`, which waits as long as the default does, or `<action> after <duration>`.
    private static func rule(
        _ text: String, of found: ComparisonClass, _ section: ConfigurationSection
    ) -> ComparisonPolicy.Rule {
        let words = text.split(separator: " ").map(String.init)
        var rule = ComparisonPolicy.standard.rule(for: found)
        let wait = words.count == 3 && words[1] == "after" ? DurationText.parse(words[2]) : nil
        let actions = ComparisonPolicy.allowed(for: found)
        guard let action = words.first.flatMap({ ComparisonAction(rawValue: $0) }), actions.contains(action),
            words.count == 1 || wait != nil
        else {
            let names = actions.map(\.rawValue).joined(separator: ", ")
            section.report(
                found.rawValue, value: text,
                allowed: "one of \(names); with a wait such as '\(actions[0].rawValue) after 2h'")
            return rule
        }
        rule.action = action
        if let wait { rule.wait = wait }
        return rule
    }
}

extension Configuration.Comparison {
    /// What `check-config` says of it: for each provider from when a change is judged, and what is done about each
    /// class.
    func summary(_ providers: [Configuration.Provider]) -> [String] {
        guard isEnabled else {
            return ["comparison: switched off; differences that only a provider shows are not seen"]
        }
        let listing = providers.filter(\.contract.listing)
        var lines = listing.map { provider in
            let judged = ComparisonSchedule.delay(provider.contract, settings)
            return "comparison: \(provider.name) in windows of \(DurationText.render(settings.window)), "
                + "each \(DurationText.render(judged)) after its end"
        }
        for provider in providers where !provider.contract.listing {
            lines.append("comparison: \(provider.name) lists no transactions and is not compared")
        }
        let rules = ComparisonClass.differences.map { found in
            let rule = settings.policy.rule(for: found)
            let wait = rule.wait == .zero ? "" : " after \(DurationText.render(rule.wait))"
            return "\(found.rawValue): \(rule.action.rawValue)\(wait)"
        }
        return listing.isEmpty ? lines : lines + ["comparison: \(rules.joined(separator: ", "))"]
    }
}
