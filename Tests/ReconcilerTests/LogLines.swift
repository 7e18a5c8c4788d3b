import Logging
import Synchronization

/// Keeps what is logged.
final class LogLines: Sendable {
    struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel: Logger.Level = .trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.append("\(event.message) \(all)")
        }
    }

    private let lines = Mutex<[String]>([])

    var handler: Handler { Handler(lines: self) }
    var all: [String] { lines.withLock { $0 } }

    private func append(_ line: String) { lines.withLock { $0.append(line) } }
}
