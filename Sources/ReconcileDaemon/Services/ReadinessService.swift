import ServiceLifecycle

/// Takes readiness away as soon as a shutdown begins, before anything else stops.
struct ReadinessService: Service {
    let readiness: Readiness

    func run() async throws {
        await readiness.set(true)
        do {
            try await gracefulShutdown()
        } catch {
            // Cancelled: not ready either.
        }
        await readiness.set(false)
    }
}
