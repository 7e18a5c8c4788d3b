import Logging
import OperationsConsole
import PaymentCore
import Reconciler

extension ComparisonDesk {
    /// The desk of a configuration; `nil` if the store keeps no comparisons.
    init?(store: any PaymentStore, configuration: Configuration) {
        guard let store = store as? any PaymentStore & ComparisonStore else { return nil }
        self.init(
            store: store, contracts: configuration.contracts, settings: configuration.comparison.settings,
            isEnabled: configuration.comparison.isEnabled, people: configuration.operators.map(\.name))
    }
}

extension Daemon {
    /// The desk of repairs: what an approval makes due is done at once.
    func repairDesk(
        _ store: any ClosableStore, _ engine: SettlementEngine, _ desk: ComparisonDesk?, _ clocks: ProviderClockWatch,
        _ logger: Logger
    ) -> RepairDesk {
        let compared = Set(desk?.compared ?? [])
        return RepairDesk(store: store, context: deciding(clocks), compared: compared) { repair in
            guard case .discrepancy(let id) = repair.target else { return await engine.look() }
            if repair.action == .undo { await compareSoon(id, desk, logger) }
        }
    }

    /// What two people ordered is begun by a run; where none can be planned, by the next of the schedule.
    private func compareSoon(_ id: DiscrepancyID, _ desk: ComparisonDesk?, _ logger: Logger) async {
        do throws(ComparisonDeskFailure) {
            try await desk?.compareSoon(id)
        } catch {
            logger.notice(
                "no run could be planned for an approved repair; the next that is planned begins it",
                metadata: ["discrepancy": .string(id.text), "reason": .string("\(error)")])
        }
    }
}

extension OperationsDescriptions {
    /// The descriptions that this build was made with.
    static var shipped: OperationsDescriptions {
        OperationsDescriptions(
            operations: PackageResources.operations_yaml, payments: PackageResources.payments_yaml)
    }
}
