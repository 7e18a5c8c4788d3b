import Foundation
import Logging

/// One JSON object for each line, for log collectors.
struct JSONLogHandler: LogHandler {
    var logLevel: Logger.Level = .info
    var metadata: Logger.Metadata = [:]
    private let label: String

    init(label: String) { self.label = label }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadata.mapValues(\.description)
        for (key, value) in event.metadata ?? [:] { fields[key] = value.description }
        if let error = event.error { fields["error"] = "\(error)" }
        fields["at"] = Date().ISO8601Format(.init(includingFractionalSeconds: true))
        fields["level"] = event.level.rawValue
        fields["logger"] = label
        fields["message"] = event.message.description
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            FileHandle.standardError.write(try encoder.encode(fields) + Data("\n".utf8))
        } catch {
            FileHandle.standardError.write(Data("{\"message\":\"a log line could not be encoded\"}\n".utf8))
        }
    }
}
