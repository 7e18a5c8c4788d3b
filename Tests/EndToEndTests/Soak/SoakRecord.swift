@testable import Lab

/// What happened in all rounds of a soak.
actor SoakRecord {
    /// The figures.
    struct Figures: Sendable {
        var payments = 0
        var states: [String: Int] = [:]
        var legs = 0
        var requests = 0
        var unanswered: [String: Int] = [:]
        var unavailable = 0
        var providerFaults = 0
        var mishaps: [Mishap: Int] = [:]
        /// The longest time from the beginning of a mishap until a payment ended after it.
        var slowest: [Mishap: Duration] = [:]
        /// Starts of daemons while there was no database.
        var startedInVain = 0
        var differences: [Comparison.Difference.Kind: Int] = [:]
        /// Orders that became more than one payment.
        var doubled = 0
        var brokenTrails = 0
        var rounds = 0
    }

    private(set) var figures = Figures()
    private var start: ContinuousClock.Instant?

    /// A round begins; the time counts from the first.
    func began() { start = start ?? .now }

    func happened(_ mishap: Mishap) { figures.mishaps[mishap, default: 0] += 1 }

    func recovered(from mishap: Mishap, after time: Duration) {
        figures.slowest[mishap] = max(figures.slowest[mishap] ?? .zero, time)
    }

    func startedInVain() { figures.startedInVain += 1 }

    /// What the callers of a round met with.
    func add(_ tally: AnyDaemon.Tally) {
        figures.requests += tally.requests
        figures.unanswered.merge(tally.unanswered, uniquingKeysWith: +)
        figures.unavailable += tally.unavailable
    }

    /// What came out at the end of a round.
    func add(_ verdict: SoakVerdict) {
        figures.rounds += 1
        figures.payments += verdict.sides.payments.count
        for payment in verdict.sides.payments { figures.states[payment.state, default: 0] += 1 }
        figures.legs += verdict.comparison.legs
        figures.providerFaults += DemoFigures(verdict.sides).faultyRequests
        for kind in Comparison.Difference.Kind.allCases {
            figures.differences[kind, default: 0] += verdict.comparison.count(kind)
        }
        figures.doubled += verdict.doubled.count
        figures.brokenTrails += verdict.brokenTrails.count
    }

    /// The table.
    func table(seed: UInt64) -> String {
        let count = figures.mishaps.values.reduce(0, +)
        var lines = [
            "soak: \(Words.count(count, "mishap")) in \(Words.count(figures.rounds, "round")), seed \(seed)", "",
        ]
        func row(_ name: String, _ count: Int, _ note: String = "") {
            lines.append("    \(DemoReport.line(name, count))\(note.isEmpty ? "" : "   \(note)")")
        }
        row("seconds", Words.milliseconds(start.map { .now - $0 } ?? .zero) / 1_000)
        row("payments", figures.payments)
        for (state, count) in figures.states.sorted(by: { $0.value > $1.value }) { row("  \(state)", count) }
        row("callers' requests", figures.requests)
        let kinds = figures.unanswered.sorted { $0.value > $1.value }.map { "\($0.key) \($0.value)" }
        row(
            "  not answered, sent again", figures.unanswered.values.reduce(0, +), kinds.joined(separator: ", "))
        row("  answered 5xx, sent again", figures.unavailable)
        row("faults of the providers", figures.providerFaults)
        lines.append("")
        for mishap in Mishap.allCases {
            let slowest = figures.slowest[mishap].map { "a payment ended again within \(Words.time($0))" }
            row(mishap.rawValue, figures.mishaps[mishap] ?? 0, slowest ?? "")
        }
        row("daemon starts without a database", figures.startedInVain)
        lines.append("")
        row("legs compared", figures.legs)
        for kind in Comparison.Difference.Kind.allCases {
            row(kind == .inDoubt ? "unsettled" : SoakVerdict.words(kind), figures.differences[kind] ?? 0)
        }
        row("orders that became two payments", figures.doubled)
        row("broken audit trails", figures.brokenTrails)
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Both sides of one round, compared.
struct SoakVerdict: Sendable {
    let sides: BothSides
    let comparison: Comparison
    /// The references of orders that became more than one payment.
    let doubled: [String]
    /// Payments whose trail, as the API shows it, is broken; and what the daemon's own check of all trails says.
    let brokenTrails: [String]

    init(_ sides: BothSides, _ comparison: Comparison, check: (status: Int32, output: String)) {
        self.sides = sides
        self.comparison = comparison
        doubled = Dictionary(grouping: sides.payments) { $0.reference ?? $0.id }.filter { $0.value.count > 1 }
            .keys.sorted()
        brokenTrails = DemoFigures.brokenTrails(sides.trails) + (check.status == 0 ? [] : [check.output])
    }

    var isGood: Bool { comparison.differences.isEmpty && doubled.isEmpty && brokenTrails.isEmpty }

    static func words(_ kind: Comparison.Difference.Kind) -> String {
        kind.rawValue.split(separator: "_").joined(separator: " ")
    }

    /// What differs, each with the trail of its payment and what its providers received.
    var report: String {
        let found = comparison.differences.prefix(10).map { difference in
            let name = "\(SoakVerdict.words(difference.kind)): \(difference.payment) leg \(difference.leg ?? -1)"
            let trail = (sides.trails[difference.payment] ?? []).map { event in
                let detail = event.detail.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
                return "    \(event.sequence) \(event.type) \(event.leg ?? -1) \(detail.joined(separator: " "))"
            }
            let received = sides.journal.filter { $0.payment == difference.payment }.map { request in
                let line = request.line
                return "    \(request.provider) \(line.id) \(line.operation) \(line.key) \(line.origin)"
                    + " \(line.fault ?? "") \(line.executed ? "executed" : "not executed") \(line.result ?? 0)"
            }
            return ([name, "  ours \(difference.ours)", "  theirs \(difference.theirs)"] + trail + received)
                .joined(separator: "\n")
        }
        return (found + doubled.map { "two payments: \($0)" } + brokenTrails).joined(separator: "\n")
    }
}
