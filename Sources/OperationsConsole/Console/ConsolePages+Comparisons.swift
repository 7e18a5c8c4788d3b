internal import HTTPEdge
internal import PaymentCore

extension ConsolePages {
    /// `GET /console/comparisons`: the last week of each provider as a strip, and the newest runs.
    func comparisons(_ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        guard questions.has(.runs) else { return ["is_off": true] }
        let end = history.moment
        var strips: [[String: Any]] = []
        for provider in history.providers {
            let (runs, isCut) = try await questions.entries(
                .runs, query: "provider=\(provider)&limit=200", atLeast: 1_000, guest
            ) { $0 }
            let rectangles = ComparisonStrip(until: end).rectangles(runs, isCut: isCut)
            strips.append(["provider": provider, "rectangles": rectangles])
        }
        let newest = try await questions.ask(.runs, query: "limit=30", guest)
        return ["strips": strips, "runs": newest["data"] ?? []]
    }

    /// `GET /console/comparisons/{id}`
    func comparison(_ id: String, _ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        guard questions.has(.run) else { throw .notFound }
        let run = try await questions.ask(.run, id: id, guest)
        let findings = try await questions.ask(.findings, id: id, query: "limit=200", guest)
        let classes = (run["counts"] as? [String: Any])?["by_class"] as? [String: Any] ?? [:]
        return [
            "run": run, "findings": findings["data"] ?? [], "is_cut": findings["next_cursor"] != nil,
            "classes": classes.sorted { $0.key < $1.key }.map { ["name": $0.key, "count": "\($0.value)"] },
        ]
    }

    /// `GET /console/site`: this site, and what stands against a promotion at this moment.
    func site(_ guest: ConsoleGuest) async throws(Problem) -> [String: Any] {
        let site = try await questions.ask(.site, guest)
        let isActive = site["role"] as? String == "active"
        var model: [String: Any] = ["site": site, "is_active": isActive]
        if !isActive, let obstacles = await questions.part(.obstacles, guest)?["obstacles"] as? [[String: Any]] {
            model["obstacles"] = obstacles
            model["may_promote"] = obstacles.isEmpty
        }
        return model
    }
}

/// The windows that were compared at one provider, on a strip of the last seven days.
struct ComparisonStrip {
    static let width = 720
    private let from: Int64
    private let to: Int64

    init(until end: Timestamp) {
        to = end.milliseconds
        from = to - 7 * 86_400_000
    }

    /// What is drawn over what, where windows overlap: what is proven counts.
    private static let order = ["abandoned", "running", "unproven", "proven"]

    /// The rectangles of runs that count: dry ones show nothing. What nothing covers is a gap; where older runs were
    /// not looked at, nothing is known.
    func rectangles(_ runs: [[String: Any]], isCut: Bool = false) -> [[String: Any]] {
        let drawn = runs.compactMap(rectangle).sorted { left, right in
            let places = [left, right].map { Self.order.firstIndex(of: $0["kind"] as? String ?? "") ?? 0 }
            return places[0] < places[1]
        }
        let oldest = drawn.compactMap { ($0["x"] as? String).flatMap { Int($0) } }.min() ?? Self.width
        guard isCut, oldest > 0 else { return drawn }
        return [["x": "0", "width": String(oldest), "kind": "unknown", "id": ""]] + drawn
    }

    private func rectangle(_ run: [String: Any]) -> [String: Any]? {
        guard run["dry_run"] as? Bool != true, let window = run["window"] as? [String: Any],
            let begin = moment(window["from"]), let end = moment(window["to"]), end > from, begin < to
        else { return nil }
        let left = place(max(begin, from))
        let right = place(min(end, to))
        let kind =
            switch (run["state"] as? String, run["proven"] as? Bool) {
            case (_, true): "proven"
            case ("completed", _): "unproven"
            case ("abandoned", _): "abandoned"
            default: "running"
            }
        return [
            "x": String(left), "width": String(max(1, right - left)), "kind": kind,
            "id": run["id"] as? String ?? "",
        ]
    }

    private func place(_ moment: Int64) -> Int { Int((moment - from) * Int64(ComparisonStrip.width) / (to - from)) }

    private func moment(_ text: Any?) -> Int64? { (text as? String).flatMap { Timestamp(utc: $0)?.milliseconds } }
}
