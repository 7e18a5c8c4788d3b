internal import HTTPEdge
internal import PaymentCore

extension ConsolePages {
    /// `GET /console/`: what an on-call engineer looks at first.
    func now(_ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let samples = history.samples
        var model: [String: Any] = ["providers": history.providers.map { provider($0, samples) }]
        if let first = samples.first { model["seen_since"] = first.at.rfc3339 }
        model["settled"] = ConsolePages.settled(samples)
        let lists: [(name: String, route: AdminRoute, query: String)] = [
            ("people", .payments, "waiting_for=people&limit=5"), ("proposals", .repairs, "limit=5"),
            ("discrepancies", .discrepancies, "limit=5"),
        ]
        for list in lists {
            // What cannot be read must not look as if there were nothing.
            guard let page = await questions.part(list.route, query: list.query, guest) else {
                model["\(list.name)_unread"] = true
                continue
            }
            model[list.name] = page["data"]
            model["more_\(list.name)"] = page["next_cursor"] != nil
        }
        model["decided"] = await questions.part(.repairs, query: "state=decided&limit=5", guest)?["data"]
        model["at_risk"] = history.gauges("reconciled_discrepancies_at_risk", by: "currency").compactMap {
            atRisk -> String? in
            guard atRisk.value > 0, let currency = Currency(code: atRisk.name) else { return nil }
            return ViewModel.amount(Int64(exactly: atRisk.value) ?? .max, currency)
        }
        return model
    }

    /// One provider: what waits for it by age, how its answers come, and how far it is compared.
    private func provider(_ name: String, _ samples: [ConsoleHistory.Sample]) -> [String: Any] {
        var model: [String: Any] = ["name": name]
        let picture = WaitingPicture(samples, of: name, until: history.moment.milliseconds)
        model["rectangles"] = picture.rectangles
        model["most"] = String(picture.most)
        if let waiting = samples.last?.waiting[name] {
            let texts = ["younger than a minute", "1 to 10 min", "10 to 60 min", "older than an hour"]
            model["ages"] = zip(texts, waiting.byAge).enumerated().map { index, pair -> [String: Any] in
                ["age": String(index), "text": pair.0, "count": String(pair.1)]
            }
            model["waiting"] = String(waiting.byAge.reduce(0, +)) + (waiting.isMore ? "+" : "")
            model["is_more"] = waiting.isMore
        }
        if let first = samples.first?.attempts[name] ?? samples.last.map({ _ in (0, 0) }),
            let last = samples.last?.attempts[name]
        {
            model["requests"] = String(Int64(last.all - first.0))
            let lost = Int64(last.lost - first.1)
            model["lost"] = String(lost)
            model["is_losing"] = lost > 0
        }
        if history.gauge("reconciled_provider_breaker_open", "provider", name) == 1 { model["is_probed"] = true }
        if let queued = history.gauge("reconciled_provider_requests_waiting", "provider", name), queued > 0 {
            model["queued"] = String(Int64(queued))
        }
        if history.gauge("reconciled_provider_clock_in_doubt", "provider", name) == 1 { model["clock_in_doubt"] = true }
        if let lag = history.gauge("reconciled_comparison_lag_seconds", "provider", name) {
            model["compared"] = ConsolePages.span(seconds: Int64(lag))
        }
        return model
    }

    private static func settled(_ samples: [ConsoleHistory.Sample]) -> [[String: Any]] {
        guard let first = samples.first?.settled, let last = samples.last?.settled else { return [] }
        return last.sorted { $0.key < $1.key }.map { state, count in
            ["state": state, "count": String(Int64(count - (first[state] ?? 0)))]
        }
    }

    /// A span in its two largest units.
    static func span(seconds: Int64) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
        default: "\(seconds / 86_400) d \(seconds % 86_400 / 3_600) h"
        }
    }
}
