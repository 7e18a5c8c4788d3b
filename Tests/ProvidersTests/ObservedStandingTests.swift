import Reconciler
import Testing

@testable import PaymentCore
@testable import Providers

/// What an answer is taken for by a read after it. A read that shows nothing, or fails, shows nothing of the change: it
/// may be older than the answer.
struct ObservedStandingTests {
    private static let nothing: [Observation.Status] = [.notFound, .unavailable]

    private func seen(_ status: Observation.Status) -> Observation {
        Observation(status, began: StandingClock.noon, source: .answer)
    }

    @Test(arguments: EffectKind.allCases, nothing)
    func `a success that a read does not show is in doubt`(kind: EffectKind, status: Observation.Status) throws {
        let order = try OrderBook(primary: kind == .sale ? .sale : .authorize).send(kind)
        let report = AttemptReport(of: order, showing: seen(status))
        #expect(report.outcome == .indeterminate && report.code == "effect_missing", "\(report)")
    }

    @Test(arguments: EffectKind.allCases, nothing)
    func `a refusal says no more by a read that shows nothing`(kind: EffectKind, status: Observation.Status) throws {
        let order = try OrderBook(primary: kind == .sale ? .sale : .authorize).send(kind)
        let said = AttemptReport(.refused, code: "said", namesKey: false)
        let report = said.settled(order, by: seen(status))
        #expect(report.outcome == .refused && report.code == "said" && !report.namesKey, "\(report)")
        // That nothing was found is kept: the core judges it with the age of the requests.
        #expect(report.observation?.status == (status == .notFound ? .notFound : nil))
    }

    @Test(arguments: [Observation.Status.voided, .expired, .tombstoned])
    func `a charge that has ended is not made by this request`(status: Observation.Status) throws {
        let report = AttemptReport(of: try OrderBook(primary: .sale).send(.sale), showing: seen(status))
        #expect(report.outcome == .refused && report.code == "conflict_\(status.rawValue)", "\(report)")
    }
}
