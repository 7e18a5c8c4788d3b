import ArgumentParser
import Foundation
import HTTPTransport
import ProgramEdge

/// Asks a daemon's probe: the health check of a container whose image has neither a shell nor curl.
struct HealthcheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Asks a probe of the daemon that runs under the same configuration.",
        discussion: """
            It reads nothing of the configuration but the section admin. Exits 0 when the probe says yes, 1 when it \
            says no, 3 when nobody answers within the time limit.
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
        let base = try Self.address(of: try options.loadAdmin(), port: port)
        let answer = try await HealthcheckCommand.send(
            HTTPRequest(method: .get, url: "\(base)/\(probe.rawValue)?verbose", label: "healthcheck"),
            within: .seconds(timeout), naming: "\(probe.rawValue) at \(base)")
        let text = String(decoding: answer.body, as: UTF8.self)
        guard answer.status == 200 else {
            throw CommandFailure(.finding, "\(probe.rawValue) at \(base) answered \(answer.status): \(text)")
        }
        say(text)
    }

    /// Sends one request to an operators' listener.
    ///
    /// - Throws: ``CommandFailure`` with the code `unavailable` if no answer comes in time.
    static func send(
        _ request: HTTPRequest, within limit: Duration, naming place: String
    ) async throws -> HTTPResponse {
        let sender = CurlSender(configuration: CurlConfiguration(maximumConnections: 1, allowPlainHTTP: true))
        var request = request
        request.limits = TimeLimits(connect: limit, tls: limit, firstByte: limit, total: limit)
        let answer: Result<HTTPResponse, TransportFailure>
        do throws(TransportFailure) {
            answer = .success(try await sender.send(request))
        } catch {
            answer = .failure(error)
        }
        await sender.shutdown()
        do throws(TransportFailure) {
            return try answer.get()
        } catch {
            throw CommandFailure(.unavailable, "\(place) did not answer: \(error)")
        }
    }

    /// Where a daemon with this listener can be asked from beside it: one that listens on every address is asked on
    /// the loopback.
    static func address(of listener: Configuration.Listener, port: Int?) throws -> String {
        let number = port ?? listener.port
        guard (1...65_535).contains(number) else {
            throw CommandFailure(
                .usage, "the operators' port is '\(number)'; allowed: 1 to 65535, in admin.port or as --port")
        }
        let host =
            switch listener.host {
            case "0.0.0.0": "127.0.0.1"
            case "::": "::1"
            default: listener.host
            }
        return "http://\(host.contains(":") ? "[\(host)]" : host):\(number)"
    }
}
