public import Logging
import Synchronization

/// Keeps what is logged.
public final class LogLines: Sendable {
    public struct Handler: LogHandler {
        let lines: LogLines
        public var metadata: Logger.Metadata = [:]
        public var logLevel: Logger.Level = .trace

        public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        public func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            lines.append("\(event.message) \(all)")
        }
    }

    private let lines = Mutex<[String]>([])

    public init() {}

    public var handler: Handler { Handler(lines: self) }
    public var all: [String] { lines.withLock { $0 } }

    private func append(_ line: String) { lines.withLock { $0.append(line) } }
}
