import ArgumentParser
import Foundation
import HTTPTransport
import ProgramEdge

/// Asks a daemon's probe: the health check of a container whose image has neither a shell nor curl.
struct HealthcheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Asks a probe of the daemon that runs under the same configuration.",
        discussion: """
            It reads nothing of the configuration but the section admin and the certificate that is named there. \
            Exits 0 when the probe says yes, 1 when it says no, 3 when nobody answers within the time limit.
            Examples:
              reconciled healthcheck --config reconciled.yaml
              reconciled healthcheck --config reconciled.yaml --probe readyz
            """)

    /// The questions that the operators' listener answers.
    enum Probe: String, ExpressibleByArgument, CaseIterable {
        case livez, readyz, startupz, activez
    }

    @OptionGroup var options: ConfigurationOptions
    @Option(help: "Which probe: \(Probe.allCases.map(\.rawValue).joined(separator: ", ")).")
    var probe: Probe = .livez
    @Option(help: "The operators' port, where the configuration leaves it to the system (0).") var port: Int?
    @Option(help: "How many seconds the answer may take, 1 to 60.") var timeout: Int = 3

    func run() async throws {
        guard (1...60).contains(timeout) else {
            throw CommandFailure(.usage, "--timeout: '\(timeout)'; allowed: 1 to 60")
        }
        let address = try OperatorsAddress(beside: try options.loadAdmin(), port: port)
        let base = address.base
        let answer = try await address.send(
            HTTPRequest(method: .get, url: "\(base)/\(probe.rawValue)?verbose", label: "healthcheck"),
            within: .seconds(timeout), naming: "\(probe.rawValue) at \(base)")
        let text = String(decoding: answer.body, as: UTF8.self)
        guard answer.status == 200 else {
            throw CommandFailure(.finding, "\(probe.rawValue) at \(base) answered \(answer.status): \(text)")
        }
        say(text)
    }
}
