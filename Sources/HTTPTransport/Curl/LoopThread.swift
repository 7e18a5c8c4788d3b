#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// One operating system thread that can be joined, which Foundation's cannot.
///
/// `@unchecked Sendable`: the thread's name is taken out under a lock exactly once, by `join` or by `deinit`.
final class LoopThread: @unchecked Sendable {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private struct Name: @unchecked Sendable {
        // A thread's name may be used from any thread, as long as it is joined or detached once.
        let thread: pthread_t
    }

    private let name: Guarded<Name?>

    /// Starts the thread.
    ///
    /// Traps if the system has none left: that happens at start, before anything was promised.
    init(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        let code = pthread_create(&thread, nil, LoopThread.entry, body.toOpaque())
        precondition(code == 0, "no thread could be started for the HTTP transport")
        #if canImport(Darwin)
            name = Guarded(thread.map(Name.init))
        #else
            name = Guarded(Name(thread: thread))
        #endif
    }

    deinit {
        if let name = take() { pthread_detach(name.thread) }
    }

    /// Waits until the thread has ended.
    ///
    /// Call it when that is imminent: it blocks.
    func join() {
        if let name = take() { pthread_join(name.thread, nil) }
    }

    private func take() -> Name? {
        name.withLock { name in
            defer { name = nil }
            return name
        }
    }

    #if canImport(Darwin)
        private static let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
            pointer in
            start(pointer)
            return nil
        }
    #else
        private static let entry: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
            pointer in
            if let pointer { start(pointer) }
            return nil
        }
    #endif

    private static func start(_ pointer: UnsafeMutableRawPointer) {
        // With CURLOPT_NOSIGNAL libcurl leaves SIGPIPE alone; a write of the TLS library to a dead connection
        // would then end the process. It is delivered to the writing thread, so blocking it here turns it
        // into EPIPE.
        var pipe = sigset_t()
        sigemptyset(&pipe)
        sigaddset(&pipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipe, nil)
        Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run()
    }
}
