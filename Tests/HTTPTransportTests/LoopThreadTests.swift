import Glibc
import Testing

@testable import HTTPTransport

@Suite struct `The thread of a sender` {
    @Test func `a connection that breaks does not end the process that writes on it`() {
        let seen = Guarded<(error: Int32, isPending: Bool)>((0, false))
        let thread = LoopThread {
            var ends: [Int32] = [0, 0]
            guard pipe(&ends) == 0 else { return }
            close(ends[0])
            // Without a mask this would be the end of all tests.
            var mask = sigset_t()
            pthread_sigmask(SIG_BLOCK, nil, &mask)
            if sigismember(&mask, SIGPIPE) == 1 {
                let error = write(ends[1], "x", 1) == -1 ? errno : 0
                var pending = sigset_t()
                sigpending(&pending)
                seen.withLock { $0 = (error, sigismember(&pending, SIGPIPE) == 1) }
            }
            close(ends[1])
        }
        thread.join()
        #expect(seen.withLock { $0.error } == EPIPE)
        #expect(seen.withLock { $0.isPending }, "the signal is kept from this thread, and from no other")
    }
}
