import ArgumentParser
import Foundation
import HTTPTransport
import ProgramEdge

/// Which daemon is asked, and by whom. What people decide is asked of a daemon, which knows a person by a token: a
/// command that wrote to the store itself would have to believe a name.
struct OperationsOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions
    @Option(help: "The address of the operators' listener. By default that of the configuration, on this machine.")
    var url: String?
    @Option(help: "A file with your token, as admin.operators knows it by its SHA-256.") var tokenFile: String
    @Option(help: "A PEM file of the authorities to trust for --url, instead of those of the system.")
    var caBundle: String?
    @Option(help: "A PEM file with your certificate, where the listener asks for one.") var certificateFile: String?
    @Option(help: "A PEM file with the key of your certificate, without a password.") var privateKeyFile: String?

    /// Asks, and returns the document that is answered.
    ///
    /// - Throws: ``CommandFailure``: `unavailable` if nobody answers or the daemon cannot do it now, `finding` if it
    ///   says no, `usage` if the token cannot be read.
    func ask(_ method: HTTPMethod, _ target: String, _ body: [String: any Sendable]? = nil) async throws -> Data {
        let address = try address()
        let base = address.base
        var fields = [("Authorization", "Bearer \(try token())")]
        var bytes: [UInt8] = []
        if let body {
            fields.append(("Content-Type", "application/json"))
            bytes = Array(try JSONSerialization.data(withJSONObject: body))
        }
        let answer = try await address.send(
            HTTPRequest(
                method: method, url: "\(base)\(target)", fields: HTTPFields(fields), body: bytes,
                // A page of 200 with the longest words.
                maximumResponseBytes: 8 << 20, label: "operations"),
            within: .seconds(10), naming: base)
        guard (200...299).contains(answer.status) else {
            throw CommandFailure(
                answer.status >= 500 ? .unavailable : .finding,
                "\(base) answered \(answer.status): \(OperationsOptions.words(answer))")
        }
        return Data(answer.body)
    }

    private func address() throws -> OperatorsAddress {
        let own: CurlConfiguration.ClientCertificate?
        switch (certificateFile, privateKeyFile) {
        case (let certificate?, let key?):
            own = CurlConfiguration.ClientCertificate(
                certificatePath: try readable(certificate, "--certificate-file"),
                keyPath: try readable(key, "--private-key-file"))
        case (nil, nil): own = nil
        default:
            throw CommandFailure(.usage, "--certificate-file and --private-key-file: allowed: both, or none of them")
        }
        guard let url else {
            guard caBundle == nil else {
                throw CommandFailure(.usage, "--ca-bundle: allowed with --url, and not without it")
            }
            return try OperatorsAddress(beside: try options.loadAdmin(), port: nil, certificate: own)
        }
        return OperatorsAddress(
            url: url, caBundle: try caBundle.map { try readable($0, "--ca-bundle") }, certificate: own)
    }

    private func readable(_ path: String, _ option: String) throws -> String {
        guard FileManager.default.isReadableFile(atPath: path) else {
            throw CommandFailure(.usage, "\(option): '\(path)' cannot be read; allowed: a PEM file")
        }
        return path
    }

    private func token() throws -> String {
        do {
            // Read as a stream: it may be a pipe of the shell.
            let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: tokenFile))
            let text = String(decoding: try file.read(upToCount: 4_096) ?? Data(), as: UTF8.self)
            let token = text.trimmingCharacters(in: .whitespacesAndNewlines)
            if !token.isEmpty { return token }
        } catch {
            throw CommandFailure(.usage, "--token-file: '\(tokenFile)' cannot be read; allowed: a file with a token")
        }
        throw CommandFailure(.usage, "--token-file: '\(tokenFile)' is empty; allowed: a file with a token")
    }

    /// What a problem document says.
    private static func words(_ answer: HTTPResponse) -> String {
        struct Problem: Decodable {
            let title: String
            let detail: String?
            let field: String?
        }
        do {
            let problem = try JSONDecoder().decode(Problem.self, from: Data(answer.body))
            let place = problem.field.map { " (\($0))" } ?? ""
            return [problem.title + place, problem.detail].compactMap { $0 }.joined(separator: ": ")
        } catch {
            return String(decoding: answer.body.prefix(500), as: UTF8.self)
        }
    }
}
