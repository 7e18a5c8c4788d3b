import PaymentCore
import Reconciler
import ServiceLifecycle

/// The engine as a service: on a graceful shutdown it begins nothing new, takes in what is on the wire, and ends.
struct EngineService: Service {
    let engine: SettlementEngine
    let grace: Span

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await engine.run() }
            group.addTask {
                do {
                    try await gracefulShutdown()
                    await engine.drain(for: grace)
                } catch {
                    // Cancelled: the engine's own task is, too.
                }
            }
        }
    }
}

/// Ends what the other services used, after them.
struct ClosingService: Service {
    let close: @Sendable () async -> Void

    func run() async throws {
        do {
            try await gracefulShutdown()
        } catch {
            // Cancelled: close all the same.
        }
        await close()
    }
}
