public import PaymentCore

/// A run as lines that a person can follow: when, where, what; with the rows that decided by their names.
public struct Timeline: Sendable {
    /// One line.
    public struct Line: Sendable, Hashable {
        /// When, since the start of the run.
        public let at: Span
        /// Who or what it happens at.
        public let origin: String
        /// What happens.
        public let text: String

        /// The line as it is printed.
        public var words: String {
            let pad = String(repeating: " ", count: max(1, 20 - origin.count))
            return "\(Timeline.clock(at))  \(origin)\(pad)\(text)"
        }
    }

    /// What the run is made of.
    public let head: [String]
    /// What happened, in order; repetitions are drawn together.
    public let lines: [Line]

    /// The timeline of a recorded run, restricted to the payments that matter.
    ///
    /// - Parameters:
    ///   - result: a result that was recorded.
    ///   - finding: what is wrong; the timeline ends there.
    ///   - payments: the payments that matter by their place in the plan; nil for those that take part, or, where all
    ///     do and something is wrong with one, for that one.
    public init(_ plan: RunPlan, _ result: RunResult, finding: SeedFinding? = nil, payments: Set<Int>? = nil) {
        let words = TimelineWords(plan: plan)
        var end: Timestamp?
        var concerned: PaymentID?
        if case .violated(let violation) = finding {
            end = violation.at
            concerned = violation.payment
        }
        let wanted = payments ?? plan.keptPayments ?? concerned.flatMap { plan.index(of: $0) }.map { [$0] }
        let ids = wanted.map { wanted in Set(wanted.sorted().compactMap { Timeline.id($0, plan) }) }
        head = Timeline.head(plan, wanted)
        var drawn: [(line: Line, shape: String)] = []
        for happening in result.happenings {
            if let end, happening.at > end { break }
            if let ids, let payment = words.payment(happening), !ids.contains(payment) { continue }
            guard let said = words.words(happening) else { continue }
            drawn.append(
                (Line(at: happening.at - plan.start, origin: said.origin, text: said.text), said.origin + said.shape))
        }
        var lines = Timeline.drawnTogether(drawn)
        for violation in result.violations.sorted(by: { ($0.at, $0.invariant) < ($1.at, $1.invariant) }) {
            if let end, violation.at > end { continue }
            if let ids, let payment = violation.payment, !ids.contains(payment) { continue }
            let lineIndex = lines.firstIndex { $0.at > violation.at - plan.start } ?? lines.count
            let name = violation.payment.map { "\(words.name($0)): " } ?? ""
            lines.insert(
                Line(
                    at: violation.at - plan.start, origin: "VIOLATED",
                    text: "invariant \(violation.invariant), \(name)\(violation.words)"), at: lineIndex)
        }
        switch finding {
        case .restless, .misconduct:
            if let finding, let last = lines.last {
                lines.append(Line(at: last.at, origin: "VIOLATED", text: finding.description))
            }
        case .violated, .unrepeatable, nil: break
        }
        self.lines = lines
    }

    /// How many lines are printed where nobody wants more.
    public static let mostLines = 400

    /// The lines as they are printed, the head first.
    ///
    /// - Parameter limit: of more lines than this, those in the middle are left out.
    public func text(limit: Int = mostLines) -> [String] {
        let all = lines.map(\.words)
        guard all.count > limit else { return head + all }
        let tail = limit / 4
        let left = all.count - limit
        return head + all.prefix(limit - tail) + ["… \(left) lines are left out …"] + all.suffix(tail)
    }

    private static func id(_ paymentIndex: Int, _ plan: RunPlan) -> PaymentID? {
        plan.payments.indices.contains(paymentIndex) ? plan.payments[paymentIndex].id : nil
    }

    private static func head(_ plan: RunPlan, _ wanted: Set<Int>?) -> [String] {
        let sites = plan.sites == 1 ? "1 site" : "\(plan.sites) sites"
        let replicas = "\(plan.replicasPerSite) replica\(plan.replicasPerSite == 1 ? "" : "s") each"
        var head = [
            "seed \(plan.seed): \(plan.replication.rawValue), \(sites), \(replicas), "
                + "faults for \(clock(plan.faultPhase).drop { $0 == " " })"
        ]
        for provider in plan.providers { head.append("  \(provider.name): \(provider.kind)") }
        for paymentIndex in (wanted ?? []).sorted() where plan.payments.indices.contains(paymentIndex) {
            guard let request = plan.payments[paymentIndex].requests.first else { continue }
            let legs = request.legs.map { "\($0.provider) \($0.amount)" }
            let mode = request.captureMode.rawValue
            head.append("  payment \(paymentIndex): \(legs.joined(separator: " and ")), capture \(mode)")
        }
        return head
    }

    /// Draws repetitions together: up to four lines that come again and again in the same order are said once.
    private static func drawnTogether(_ all: [(line: Line, shape: String)]) -> [Line] {
        var lines: [Line] = []
        var position = 0
        while position < all.count {
            var best = (period: 1, times: 1)
            for period in 1...4 {
                let times = repetitions(all, at: position, period: period)
                if times > 2, times * period > best.times * best.period { best = (period, times) }
            }
            lines.append(contentsOf: all[position..<(position + best.period)].map(\.line))
            position += best.period * best.times
            guard best.times > 1 else { continue }
            let last = all[position - 1].line
            let what = best.period == 1 ? "the same" : "the last \(best.period) lines"
            lines.append(Line(at: last.at, origin: "…", text: "\(what) again, \(best.times - 1) times until now"))
        }
        return lines
    }

    private static func repetitions(_ all: [(line: Line, shape: String)], at start: Int, period: Int) -> Int {
        var times = 1
        while start + (times + 1) * period <= all.count {
            let next = start + times * period
            let isSame = (0..<period).allSatisfy { all[start + $0].shape == all[next + $0].shape }
            guard isSame else { break }
            times += 1
        }
        return times
    }

    /// `    00:30:22.733` and, after a day, ` 2d 03:00:00.000`.
    static func clock(_ span: Span) -> String {
        func padded(_ number: Int64, _ digits: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, digits - text.count)) + text
        }
        let milliseconds = max(0, span.milliseconds)
        let days = milliseconds / 86_400_000
        let time =
            padded(milliseconds / 3_600_000 % 24, 2) + ":" + padded(milliseconds / 60_000 % 60, 2) + ":"
            + padded(milliseconds / 1_000 % 60, 2) + "." + padded(milliseconds % 1_000, 3)
        let day = days == 0 ? "" : "\(days)d"
        return String(repeating: " ", count: max(0, 3 - day.count)) + day + " " + time
    }
}
