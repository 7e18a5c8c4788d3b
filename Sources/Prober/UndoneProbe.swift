internal import PaymentCore
internal import Reconciler

/// Gives back whatever a probe took.
struct UndoneProbe: Sendable {
    let bench: ProbeBench

    /// Why it may still hold money; `nil` if it holds none.
    func undo(_ transaction: ProbedTransaction) async -> String? {
        var reason = "its status cannot be read"
        do { try await settleDoubt(transaction) } catch { return "it was not undone: \(error)" }
        // Each round reads anew, so that what was lost or is shown late is seen in the end.
        let end = bench.clock.now() + bench.settings.patience
        var quiet = 0
        repeat {
            let observation = await bench.read(transaction)
            let isLost = await bench.taken.contains(transaction)
            if Self.holdsNothing(observation), !isLost {
                quiet += 1
                // What is not there may only be late.
                if quiet >= (observation.status == .notFound ? bench.settings.agreeingReads : 1) { return nil }
            } else {
                quiet = 0
                reason = await giveBack(transaction, observation)
            }
            do { try await bench.sleep(bench.settings.readEvery) } catch { return reason }
        } while bench.clock.now() < end
        return reason
    }

    /// What was not answered may have arrived, and may still arrive: a cancel keeps that away where anything does.
    private func settleDoubt(_ transaction: ProbedTransaction) async throws(ProbeFailure) {
        guard await bench.inDoubt.contains(transaction) else { return }
        _ = try await bench.send(.void, transaction)
        try await bench.waitForReads()
    }

    /// Whether no money is held or taken.
    static func holdsNothing(_ observation: Observation) -> Bool {
        switch observation.status {
        case .notFound, .voided, .tombstoned, .declined, .expired: true
        case .captured: Self.left(of: observation) == 0
        case .pending, .authorized, .unavailable: false
        }
    }

    private static func left(of observation: Observation) -> Int64 {
        let taken = observation.captures.filter { $0.state == .succeeded }
        let given = observation.refunds.filter { $0.state != .declined }
        let amount = taken.isEmpty ? observation.amount?.value ?? 0 : taken.reduce(0) { $0 + $1.amount.value }
        return amount - given.reduce(0) { $0 + $1.amount.value }
    }

    /// Sends what gives it back, and says what to tell if it does not show.
    private func giveBack(_ transaction: ProbedTransaction, _ observation: Observation) async -> String {
        do throws(ProbeFailure) {
            switch observation.status {
            case .authorized:
                let report = try await bench.send(.void, transaction)
                return "a void was answered \(report.outcome.name) (\(report.code))"
            case .captured:
                let amount = Money.of(Self.left(of: observation), bench.settings.amount.currency)
                // A refund that was answered and is not shown yet must not be made twice: it has the same key.
                let details = ProbeBench.Details(amount: amount, operation: "undo-\(amount.value)")
                let report = try await bench.send(.refund, transaction, details)
                return "a refund was answered \(report.outcome.name) (\(report.code))"
            case .pending: return "it is not decided"
            case .notFound:
                let report = try await bench.send(.void, transaction)
                return "it was taken, no inquiry knows it any more, and a void was answered \(report.outcome.name)"
            default: return "its status cannot be read (\(observation.reason ?? observation.status.rawValue))"
            }
        } catch {
            return "it was not undone: \(error)"
        }
    }
}

extension Money {
    /// An amount that cannot be negative.
    static func of(_ value: Int64, _ currency: Currency) -> Money {
        do { return try Money(max(0, value), currency) } catch { return .zero(currency) }
    }
}
