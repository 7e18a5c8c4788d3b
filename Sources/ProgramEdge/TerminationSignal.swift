import Dispatch
import Foundation

/// SIGTERM and SIGINT as something to await.
public enum TerminationSignal {
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
