import Foundation
import HTTPTransport

/// Delivers the notifications of providers that cannot be asked, as a network does: some of them late, some twice, and
/// in any order, each until the daemon takes it.
struct Courier: Sendable {
    let sender: any HTTPSender
    let simulator: String
    let daemon: String
    let providers: [DemoProvider]
    let seed: UInt64

    private struct Notice: Decodable, Sendable {
        let id: String
        let at: Int64
        let body: String
    }

    private struct Notices: Decodable {
        let data: [Notice]
    }

    /// How much of a hundred are put off, and delivered once more.
    private static let late = 30
    private static let again = 5
    /// What is decided later bears the moment at which it was asked for.
    private static let overlapMs: Int64 = 30_000

    /// Delivers until it is cancelled.
    func carry() async throws {
        var numbers = SeededNumbers(seed: seed)
        var taken: Set<String> = []
        var since: [DemoProvider: Int64] = [:]
        var waiting: [DemoProvider: [String: Notice]] = [:]
        while true {
            for provider in providers {
                for notice in try await notices(provider, since: since[provider] ?? 0) {
                    since[provider] = max(since[provider] ?? 0, notice.at - Courier.overlapMs)
                    if !taken.contains(notice.id) { waiting[provider, default: [:]][notice.id] = notice }
                }
                let due = waiting[provider, default: [:]].values.sorted { $0.id < $1.id }.shuffled(using: &numbers)
                for notice in due where Int.random(in: 0..<100, using: &numbers) >= Courier.late {
                    guard try await deliver(notice, of: provider) else { continue }
                    taken.insert(notice.id)
                    let comesAgain = Int.random(in: 0..<100, using: &numbers) < Courier.again
                    if !comesAgain { waiting[provider]?[notice.id] = nil }
                }
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    /// What a provider has to tell; nothing while it does not answer.
    private func notices(_ provider: DemoProvider, since: Int64) async throws -> [Notice] {
        let request = HTTPRequest(
            method: .get, url: "\(simulator)/_control/\(provider.rawValue)/notifications?since=\(since)",
            maximumResponseBytes: 1 << 26, label: "notifications")
        do throws(TransportFailure) {
            let answer = try await sender.send(request)
            guard answer.status == 200 else { return [] }
            return try Courier.decoded(answer.body)
        } catch {
            try Task.checkCancellation()
            return []
        }
    }

    private static func decoded(_ body: [UInt8]) throws(TransportFailure) -> [Notice] {
        do {
            return try DemoJSON.decode(Notices.self, body).data
        } catch {
            throw TransportFailure(code: .malformedResponse, phase: .sent, detail: "no notifications")
        }
    }

    /// Whether the daemon took it. One that is down is tried again.
    private func deliver(_ notice: Notice, of provider: DemoProvider) async throws -> Bool {
        let request = HTTPRequest(
            method: .post, url: "\(daemon)/v1/providers/\(provider.rawValue)/notifications",
            fields: HTTPFields([("Content-Type", "application/json")]), body: [UInt8](notice.body.utf8),
            label: "notification")
        do throws(TransportFailure) {
            return (200...299).contains(try await sender.send(request).status)
        } catch {
            try Task.checkCancellation()
            return false
        }
    }
}
