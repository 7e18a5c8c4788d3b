import Foundation
import HTTPTransport
import ProgramEdge

/// Where an operators' listener is asked, and by what it is known to be the one.
struct OperatorsAddress {
    /// Its address, without a path.
    let base: String
    private var wire = CurlConfiguration(maximumConnections: 1, allowPlainHTTP: true)

    /// The address of a daemon whose listener is reached by this name.
    init(
        url: String, caBundle: String?, certificate: CurlConfiguration.ClientCertificate?
    ) {
        base = url
        wire.caBundlePath = caBundle
        wire.clientCertificate = certificate
    }

    /// Where a daemon with this listener can be asked from beside it: one that listens on every address is asked on
    /// the loopback, which its certificate need not name. So that very certificate is what counts.
    init(
        beside listener: Configuration.Listener, port: Int?, certificate: CurlConfiguration.ClientCertificate? = nil
    ) throws {
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
        let scheme = listener.certificatePath == nil ? "http" : "https"
        base = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(number)"
        wire.clientCertificate = certificate
        guard let path = listener.certificatePath else { return }
        wire.onlyCertificate = Array(try OperatorsAddress.firstCertificate(path).utf8)
    }

    /// The listener's own certificate, without those that signed it: they may have signed others.
    private static func firstCertificate(_ path: String) throws -> String {
        do {
            let text = try String(contentsOfFile: path, encoding: .utf8)
            if let last = text.range(of: "-----END CERTIFICATE-----") { return "\(text[..<last.upperBound])\n" }
        } catch {
            throw CommandFailure(
                .usage, "admin.tls.certificate_file: '\(path)' cannot be read; allowed: a PEM file of certificates")
        }
        throw CommandFailure(
            .usage, "admin.tls.certificate_file: '\(path)' holds no certificate; allowed: a PEM file of certificates")
    }

    /// Sends one request to it.
    ///
    /// - Throws: ``CommandFailure`` with the code `unavailable` if no answer comes in time.
    func send(_ request: HTTPRequest, within limit: Duration, naming place: String) async throws -> HTTPResponse {
        let sender = CurlSender(configuration: wire)
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
}
