import Foundation
import HTTPTransport
import Synchronization

/// Sends each request to one of the daemons, as chance has it, and remembers what they promised.
final class AnyDaemon: HTTPSender {
    /// What became of the callers' requests.
    struct Tally: Sendable {
        /// All requests.
        var requests = 0
        /// Requests that nobody answered, by how they failed: the caller sends them again.
        var unanswered: [String: Int] = [:]
        /// Requests on their way.
        var underWay = 0
        /// Answers 5xx.
        var unavailable = 0
        /// The payments of all creations that were answered with 2xx.
        var promised: Set<String> = []
    }

    /// The beginning of the URLs that the senders use.
    static let base = "http://daemons"
    /// A daemon that stands still is not waited for.
    private static let patience = Duration.seconds(6)

    private let world: World
    private let sender: any HTTPSender
    private let state = Mutex(Tally())

    init(_ world: World, sender: any HTTPSender) {
        self.world = world
        self.sender = sender
    }

    var tally: Tally { state.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(TransportFailure) -> HTTPResponse {
        let path = request.url.dropFirst(AnyDaemon.base.count)
        guard let port = await world.ports().randomElement() else {
            throw TransportFailure(code: .connectionRefused, phase: .connecting, detail: "there is no daemon")
        }
        var addressed = request
        addressed.url = "http://127.0.0.1:\(port)\(path)"
        addressed.limits = request.limits.capped(to: AnyDaemon.patience)
        state.withLock { tally in
            tally.requests += 1
            tally.underWay += 1
        }
        do {
            let answer = try await sender.send(addressed)
            state.withLock { tally in
                tally.underWay -= 1
                if answer.status >= 500 { tally.unavailable += 1 }
                if request.method == .post, path == "/v1/payments", (200..<300).contains(answer.status),
                    let body = try? JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
                    let id = body["id"] as? String
                {
                    tally.promised.insert(id)
                }
            }
            return answer
        } catch {
            state.withLock { tally in
                tally.underWay -= 1
                tally.unanswered[error.code.rawValue, default: 0] += 1
            }
            throw error
        }
    }
}
