import Foundation

/// A receiver of webhooks that shares nothing with the daemon, in a process of its own.
final class WebhookReceiver: Sendable {
    /// What it heard of one delivery.
    struct Heard: Decodable, Sendable {
        struct Payment: Decodable, Sendable {
            struct Refund: Decodable, Sendable {
                let state: String
            }

            let id: String
            let state: String
            let refunds: [Refund]
        }

        let id: String
        let age: Double
        /// The positions of those of its secrets that signed it.
        let signedBy: [Int]
        let contentType: String
        let authorization: String?
        let path: String
        let type: String
        let payment: Payment
        let answer: String
    }

    static let secret = "whsec_" + Data(repeating: 41, count: 32).base64EncodedString()
    static let nextSecret = "whsec_" + Data(repeating: 42, count: 32).base64EncodedString()

    let port: Int
    private let directory: URL
    private let process: Process

    /// A receiver that listens.
    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("reconciled-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let output = Pipe()
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
            "python3", tests.appending(path: "Outside/webhook_receiver.py").path, directory.path,
            WebhookReceiver.secret, WebhookReceiver.nextSecret,
        ]
        process.standardOutput = output
        process.standardInput = Pipe()
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw DaemonProcess.NotStarted(description: "the receiver said \(line)")
        }
        self.port = port
    }

    /// Ends it and removes what it wrote.
    func stop() throws {
        process.end()
        try FileManager.default.removeItem(at: directory)
    }

    /// What it answers from now on.
    func answer(_ answer: String) throws {
        try answer.write(to: directory.appendingPathComponent("answer"), atomically: true, encoding: .utf8)
    }

    /// All that it heard, in order.
    func heard() throws -> [Heard] {
        let file = directory.appendingPathComponent("heard.jsonl")
        guard FileManager.default.fileExists(atPath: file.path) else { return [] }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // The last line may be half written.
        return try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").dropLast()
            .map { try decoder.decode(Heard.self, from: Data($0.utf8)) }
    }

    /// The states that it heard of a payment.
    func states(of payment: String) throws -> [String] {
        try heard().filter { $0.payment.id == payment }.map(\.payment.state)
    }

    /// Settings of a world whose shop is told by webhooks here.
    ///
    /// - Parameter mayBePrivate: whether the configuration names the network of this machine.
    func settings(_ settings: WorldSettings = WorldSettings(), mayBePrivate: Bool = true) throws -> WorldSettings {
        let file = directory.appendingPathComponent("webhook.secret")
        try WebhookReceiver.secret.write(to: file, atomically: true, encoding: .utf8)
        var settings = settings
        let networks = mayBePrivate ? ", private_networks: [127.0.0.0/8]" : ""
        settings.webhook =
            "{url: \"http://127.0.0.1:\(port)/hooks\", allow_plain_http: true, secret_file: \(file.path)\(networks)}"
        return settings
    }

    /// Runs a body with a receiver.
    static func run(_ body: (WebhookReceiver) async throws -> Void) async throws {
        let receiver = try WebhookReceiver()
        do {
            try await body(receiver)
        } catch {
            try receiver.stop()
            throw error
        }
        try receiver.stop()
    }
}
