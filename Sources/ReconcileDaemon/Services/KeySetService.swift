import ServiceLifecycle
import SignedTokens

/// Reads the keys of signed tokens for as long as the daemon runs, so that no request has to.
struct KeySetService: Service {
    let keeper: KeySetKeeper
    let source: KeySetSource

    func run() async throws {
        await cancelWhenGracefulShutdown { await keeper.run() }
        await source.shutdown()
    }
}
