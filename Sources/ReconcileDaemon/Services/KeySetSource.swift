import Foundation
import HTTPTransport
import SignedTokens

/// The keys of who signs tokens for callers, as a file or an HTTPS server has them.
struct KeySetSource: Sendable {
    /// The source did not give any.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let keys: Configuration.SignedTokenSettings.Keys
    private let sender: CurlSender?

    init(_ keys: Configuration.SignedTokenSettings.Keys) {
        self.keys = keys
        if case .address(_, let caBundle) = keys {
            sender = CurlSender(configuration: CurlConfiguration(maximumConnections: 1, caBundlePath: caBundle))
        } else {
            sender = nil
        }
    }

    /// Reads the set.
    func read() async throws -> [UInt8] {
        switch keys {
        case .file(let path):
            do {
                return Array(try Data(contentsOf: URL(fileURLWithPath: path)))
            } catch {
                throw Failure(description: "\(path) cannot be read")
            }
        case .address(let url, _):
            guard let sender else { return [] }
            let limit = Duration.seconds(5)
            let request = HTTPRequest(
                method: .get, url: url, limits: TimeLimits(connect: limit, tls: limit, firstByte: limit, total: limit),
                maximumResponseBytes: KeySetKeeper.largestSet, label: "key_set")
            let answer: HTTPResponse
            do throws(TransportFailure) {
                answer = try await sender.send(request)
            } catch {
                throw Failure(description: "\(url) did not answer: \(error.code.rawValue)")
            }
            guard answer.status == 200 else { throw Failure(description: "\(url) answered \(answer.status)") }
            return answer.body
        }
    }

    /// Ends its connections.
    func shutdown() async { await sender?.shutdown() }
}
