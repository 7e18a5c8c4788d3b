/// The four questions that orchestrators and load balancers ask.
struct Probes: Sendable {
    let progress: ProgressMonitor
    let readiness: HealthBoard
    let startup: HealthBoard
    let activity: HealthBoard

    /// Whether a query asks for the checks by name: `verbose` with an empty value, `true` or `1`.
    static func isVerbose(_ query: String?) -> Bool {
        let asking: Set<Substring> = ["verbose", "verbose=", "verbose=true", "verbose=1"]
        return (query ?? "").split(separator: "&").contains { asking.contains($0) }
    }

    /// What a probe finds. Liveness asks nothing but the loops' own beats.
    func results(_ name: String) async -> [NamedResult] {
        switch name {
        case "readyz": await readiness.results()
        case "startupz": await startup.results()
        case "activez": await activity.results()
        default: progress.results()
        }
    }
}
