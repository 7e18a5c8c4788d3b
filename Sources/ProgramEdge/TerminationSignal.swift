import Dispatch
import Foundation

/// SIGTERM and SIGINT as something to await.
public enum TerminationSignal {
    /// Lets SIGTERM and SIGINT end a process that is the first of its container, as they end any other.
    ///
    /// The kernel gives the first process of a namespace no default action: a command that has no handler of its own
    /// would go on until it is killed. Who waits for signals, as a daemon does, replaces this.
    static func endProcessOne() {
        guard getpid() == 1 else { return }
        for number in [SIGTERM, SIGINT] { signal(number) { _exit(128 + $0) } }
    }

    /// Returns at the first of them, or when the task is cancelled.
    public static func wait() async {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGTERM, SIGINT].map { number in
            // The default action would end the process before the source hears of it, and leave its children behind.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler { continuation.yield() }
            source.resume()
            return source
        }
        var iterator = signals.makeAsyncIterator()
        _ = await iterator.next()
        for source in sources { source.cancel() }
    }
}
