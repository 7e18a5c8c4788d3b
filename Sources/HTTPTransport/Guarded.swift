#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A value behind a mutual exclusion lock, for short synchronous sections.
///
/// A pthread mutex and not `Synchronization.Mutex`, which Thread Sanitizer does not understand and reports
/// falsely.
///
/// `@unchecked Sendable`: `state` is touched only inside `withLock`, between lock and unlock of a mutex which
/// lives as long as the object; `State` is itself `Sendable`, so nothing that leaves the section is shared.
final class Guarded<State: Sendable>: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        let code = pthread_mutex_init(mutex, nil)
        precondition(code == 0, "a mutex could not be made")
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` alone.
    ///
    /// It must not call back into the same object.
    func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let code = pthread_mutex_lock(mutex)
        precondition(code == 0, "a mutex could not be locked")
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
